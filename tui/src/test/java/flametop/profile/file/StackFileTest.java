package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.HeldStacks;
import io.airlift.compress.bzip2.BZip2HadoopStreams;
import io.airlift.compress.zstd.ZstdOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tukaani.xz.LZMA2Options;
import org.tukaani.xz.XZOutputStream;

/** Files of folded stacks, read and asked as the screen asks. */
class StackFileTest {
  @TempDir Path folder;

  private Path file(String text) throws IOException {
    return Files.write(folder.resolve("a.folded"), text.getBytes(UTF_8));
  }

  private static GraphQuery query(long zoom, long selected, int levels, String search) {
    return new GraphQuery(
        StateSet.ALL,
        zoom,
        selected,
        1_000_000,
        levels,
        search == null ? null : Pattern.compile(search));
  }

  private static Snapshot read(StackFile file) throws Exception {
    file.whole().get();
    return file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 100, null)).get();
  }

  private Snapshot read(Path path) throws Exception {
    try (StackFile file = new StackFile(StackInput.open(path), 1, 1, null)) {
      return read(file);
    }
  }

  private Snapshot read(String text) throws Exception {
    return read(file(text));
  }

  /** {@code name weight} of each node, in pre-order, indented by its depth. */
  private static List<String> drawn(Snapshot of) {
    GraphSlice slice = of.graph();
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < slice.size(); i++) {
      int depth = 0;
      for (int p = slice.parent()[i]; p >= 0; p = slice.parent()[p]) {
        depth++;
      }
      String before =
          slice.baseline() == null
              ? ""
              : Math.round((double) slice.baseline()[i] / of.measure().parts()) + " → ";
      String now =
          new BigDecimal(slice.weight()[i])
              .divide(new BigDecimal(of.measure().parts()), MathContext.DECIMAL64)
              .stripTrailingZeros()
              .toPlainString();
      lines.add(" ".repeat(depth) + slice.name()[i] + " " + before + now);
    }
    return lines;
  }

  @Test
  void snapshot_ofStacks_hasTheSumOfEach() throws Exception {
    Snapshot snapshot = read("main;a;b 3\nmain;a 1\nmain;a;b 2\nmain;c 5\nother 7\n");
    assertEquals(
        List.of("all 18", " main 11", "  a 6", "   b 5", "  c 5", " other 7"), drawn(snapshot));
    assertEquals(18, snapshot.total());
    assertEquals(List.of(), snapshot.notices());
    assertTrue(snapshot.reading().done());
    assertEquals(5, snapshot.reading().stacks());
    assertInstanceOf(Snapshot.File.class, snapshot.context());
  }

  @Test
  void snapshot_ofSuffixes_hasTheirKindsAndPlainNames() throws Exception {
    GraphSlice slice =
        read("# first frame: comm\nx;f;g_[k] 1\nx;h_[j];i_[i];[unknown] 1\nx;[truncated] 1\n")
            .graph();
    Map<String, NodeKind> kinds = new TreeMap<>();
    for (int i = 0; i < slice.size(); i++) {
      kinds.put(slice.name()[i], slice.kind()[i]);
    }
    assertEquals(
        Map.of(
            "all", NodeKind.ROOT,
            "x", NodeKind.PROCESS,
            "f", NodeKind.USER,
            "g", NodeKind.KERNEL,
            "h", NodeKind.JIT,
            "i", NodeKind.INLINED,
            "[unknown]", NodeKind.UNKNOWN,
            "[truncated]", NodeKind.REASON),
        kinds);
  }

  @Test
  void snapshot_ofTwoNumbers_comparesThemByTheirTotals() throws Exception {
    Snapshot snapshot = read("a;b 10 30\na;c 10 0\na;d 0 10\n");
    assertEquals(
        List.of("all 40 → 40", " a 40 → 40", "  b 20 → 30", "  c 20 → 0", "  d 0 → 10"),
        drawn(snapshot));
  }

  @Test
  void snapshot_ofACommentWithTheUnit_hasIt() throws Exception {
    Snapshot snapshot = read("# unit: us\n# below: all > my unit: x\nmain;a 5\n");
    assertEquals("us", snapshot.reading().measure().unit());
    assertEquals("samples", read("main;a 5\n").reading().measure().unit());
  }

  @Test
  void snapshot_ofOneNumberAfterANameThatEndsInOne_comparesNothing() throws Exception {
    Snapshot snapshot = read("worker 3 10\nmain 5\n");
    assertNull(snapshot.graph().baseline());
    assertEquals(List.of("all 15", " main 5", " worker 3 10"), drawn(snapshot));
  }

  @Test
  void compared_ofTwoFiles_hasBoth() throws Exception {
    Path before = Files.writeString(folder.resolve("before"), "a;b 1\na;gone 3\n");
    Path now = Files.writeString(folder.resolve("now"), "a;b 4\na;new 4\n");
    try (StackFile file = StackFile.compared(StackInput.open(before), StackInput.open(now), null)) {
      assertEquals(
          List.of("all 8 → 8", " a 8 → 8", "  b 2 → 4", "  gone 6 → 0", "  new 0 → 4"),
          drawn(read(file)));
      assertEquals(new StackFile.Use(true, true, 4, 8), file.use().get());
      List<String> stacks = new ArrayList<>();
      file.held(0)
          .get()
          .forEach(
              s -> stacks.add(String.join(";", s.names()) + " " + s.before() + " " + s.value()));
      assertEquals(List.of("a;b 1 4", "a;gone 3 0", "a;new 0 4"), stacks);
    }
  }

  @Test
  void snapshot_ofBadLines_countsThemAndNamesTheFirst() throws Exception {
    Snapshot snapshot =
        read(
            "# a header 12\n\nmain;a 3\nno number\n 12\nx -5\nx 99999999999999999999\nmain;b 4.75\r\nlast 1");
    assertEquals(
        List.of("all 8.75", " last 1", " main 7.75", "  a 3", "  b 4.75"), drawn(snapshot));
    assertEquals(
        List.of("4 lines are no stack and left out, first line 4: no number at its end"),
        snapshot.notices());
  }

  @Test
  void snapshot_ofHarmfulNames_isCleanAndSaysWhatIsNoText() throws Exception {
    byte[] bytes = "m;\033]0;x\007 1\nm;\u009b31m\u202e 1\nm;b?d 1\n".getBytes(UTF_8);
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = bytes[i] == '?' ? (byte) 0xFF : bytes[i];
    }
    Snapshot snapshot = read(Files.write(folder.resolve("bad"), bytes));
    for (String name : snapshot.graph().name()) {
      assertTrue(
          name.chars().noneMatch(c -> c < ' ' || c >= 0x7F && c < 0xA0 || c == 0x202E), name);
    }
    assertTrue(List.of(snapshot.graph().name()).contains("b\\xFFd"));
    assertTrue(snapshot.notices().get(0).startsWith("1 name is not in UTF-8"));
  }

  @Test
  void snapshot_ofAByteOrderMark_isWithoutIt() throws Exception {
    List<String> plain = List.of("all 3", " a 3", "  b 1", "  c 2");
    assertEquals(plain, drawn(read("\uFEFFa;b 1\na;c 2\n")));
    Path gzip = folder.resolve("a.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(gzip))) {
      out.write("\uFEFFa;b 1\r\na;c 2\r\n".getBytes(UTF_8));
    }
    assertEquals(plain, drawn(read(gzip)));
    assertTrue(read("\uFEFF").notices().get(0).endsWith(" is empty"));
  }

  @Test
  void snapshot_ofAnEmptyFile_saysSo() throws Exception {
    assertEquals(List.of(folder.resolve("a.folded") + " is empty"), read("").notices());
    assertEquals(
        List.of(folder.resolve("a.folded") + " has no stacks: line 1: no number at its end"),
        read("some words\n").notices());
    assertEquals(
        List.of(folder.resolve("a.folded") + " has no stacks: nothing but comments"),
        read("# a\n\n").notices());
  }

  @Test
  void snapshot_ofPackedFiles_isThatOfThePlain() throws Exception {
    String text = "main;a;b 3\n".repeat(100_000) + "main;c 1\n";
    List<String> plain = drawn(read(text));
    Path gzip = folder.resolve("a.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(gzip))) {
      out.write(text.getBytes(UTF_8));
    }
    Path zstd = folder.resolve("a.zst");
    try (OutputStream out = new ZstdOutputStream(Files.newOutputStream(zstd))) {
      out.write(text.getBytes(UTF_8));
    }
    assertEquals(plain, drawn(read(gzip)));
    assertEquals(plain, drawn(read(zstd)));
  }

  @Test
  void snapshot_ofADamagedPackedFile_hasWhatCameBefore() throws Exception {
    Path gzip = folder.resolve("a.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(gzip))) {
      Random random = new Random(1);
      for (int i = 0; i < 100_000; i++) {
        out.write(("main;f" + random.nextInt() + " 1\n").getBytes(UTF_8));
      }
    }
    byte[] bytes = Files.readAllBytes(gzip);
    Files.write(gzip, Arrays.copyOf(bytes, bytes.length / 2));
    Snapshot snapshot = read(gzip);
    assertTrue(snapshot.total() > 1_000);
    assertEquals(
        List.of(
            gzip
                + " is read up to where it failed: it ends too early;"
                + " copy it or pack it again"),
        snapshot.notices());
  }

  /** Where it is cut a line is, too: half of its number is not its number. */
  @Test
  void snapshot_ofAPackedFileThatIsCut_isWithoutTheLineThatWasCut() throws Exception {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(packed, 512, true)) {
      out.write("main;a 1000\nmain;b 10".getBytes(UTF_8));
      out.flush();
      byte[] bytes = packed.toByteArray();
      Snapshot snapshot = read(Files.write(folder.resolve("cut.gz"), bytes));
      assertEquals(List.of("all 1000", " main 1000", "  a 1000"), drawn(snapshot));
    }
  }

  @Test
  void snapshot_ofAPackedFileWithoutMoreThanItsHead_saysOneThing() throws Exception {
    ByteArrayOutputStream zstd = new ByteArrayOutputStream();
    try (OutputStream out = new ZstdOutputStream(zstd)) {
      out.write("main;a 1\n".repeat(1_000).getBytes(UTF_8));
    }
    byte[] gzip = {0x1F, (byte) 0x8B, 8, 0, 0};
    for (byte[] head : List.of(gzip, Arrays.copyOf(zstd.toByteArray(), 12))) {
      Path path = Files.write(folder.resolve("a.packed"), head);
      assertEquals(
          List.of(path + " cannot be read: it ends too early; copy it or pack it again"),
          read(path).notices());
    }
  }

  @Test
  void snapshot_ofWhatIsNotFolded_saysWhatItIs() throws Exception {
    Map<String, String> wanted =
        Map.of(
            "java 4711 [002]  5123.456789:   10101010 cpu-clock:u: \n\t    7f1c2a main+0x1f (/usr/bin/x)\n\n",
            "perf script",
            "PERFILE2\0\0\0",
            "a recording of perf",
            "{\"json\": true}\n",
            "JSON",
            "<svg>\n</svg>\n",
            "a page or a picture",
            "\0\0\1\n",
            "no text");
    for (Map.Entry<String, String> of : wanted.entrySet()) {
      List<String> notices = read(of.getKey()).notices();
      assertEquals(1, notices.size(), notices::toString);
      assertTrue(notices.get(0).contains("has no stacks: it "), notices.get(0));
      assertTrue(notices.get(0).contains(of.getValue()), notices.get(0));
    }
  }

  @Test
  void snapshot_ofOddNumbersAndNames_takesWhatIsAStack() throws Exception {
    Snapshot snapshot =
        read(
            "a;b 1.9\n a;c 2\na;;d 3\na;e; 4\na b;c d 5\r\n;;f 6\na;g +7\na;h 1e3\na;i -8\na;j 0\n");
    assertEquals("all 21.9", drawn(snapshot).get(0));
    assertEquals(
        List.of("3 lines are no stack and left out, first line 7: no number at its end"),
        snapshot.notices());
    assertEquals(
        List.of(folder.resolve("a.folded") + " has no stacks: line 1: its number is negative"),
        read("a;b -8\n").notices());
  }

  @Test
  void snapshot_ofMoreThanCanBeCounted_leavesTheRestOut() throws Exception {
    Snapshot snapshot = read("a;b 999999999999999999\n".repeat(10));
    assertTrue(snapshot.total() > 0);
    assertTrue(
        snapshot.notices().get(0).endsWith("the sum of the numbers is too large"),
        snapshot.notices()::toString);
  }

  @Test
  void snapshot_ofALineWithoutEnd_isWithoutIt() throws Exception {
    Path path = folder.resolve("long.gz");
    byte[] part = "very long;".repeat(100_000).getBytes(UTF_8);
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(path))) {
      out.write("a;b 1\n".getBytes(UTF_8));
      for (int i = 0; i < 200; i++) {
        out.write(part);
      }
      out.write("end 5\na;c 2\n".getBytes(UTF_8));
    }
    Snapshot snapshot = read(path);
    assertEquals(List.of("all 3", " a 3", "  b 1", "  c 2"), drawn(snapshot));
    assertEquals(
        List.of("1 line is no stack and left out, first line 2: it is too long"),
        snapshot.notices());
  }

  @Test
  void snapshot_ofMoreFramesThanAStackHas_isWithoutIt() throws Exception {
    Snapshot snapshot = read(";".repeat(2_000_000) + " 1\na;b 1\n");
    assertEquals(1, snapshot.total());
    assertTrue(snapshot.notices().get(0).endsWith("it has more than a million frames"));
  }

  @Test
  void fold_ofMoreFramesThanThereIsRoomFor_leavesThemOutAndCountsThem() {
    StackNames names = new StackNames(20, 100);
    StackTree tree = new StackTree(null, 5);
    StackLines lines = new StackLines(names, tree, StackTree.NOW, true);
    byte[] text = "a;b 1\na;b;c;d 2\na;b;e 3\na;b 4\na;long_name_of_x 5\na;b;c 6\n".getBytes(UTF_8);
    lines.fold(text, 0, text.length);
    tree.sumUp();
    assertEquals(13, tree.weight(0, 0));
    assertEquals(2, lines.unheld());
    assertEquals(3, lines.firstUnheld());
  }

  @Test
  void snapshot_ofAFileThatIsCutMeanwhile_saysSo() throws Exception {
    Path path = file("main;a;b 3\n".repeat(300_000));
    try (StackInput input = StackInput.open(path)) {
      Files.writeString(path, "main;a 1\n");
      try (StackFile file = new StackFile(input, 1, 1, null)) {
        assertEquals(
            List.of(path + " is read up to where it failed: it became shorter while it was read"),
            read(file).notices());
      }
    }
  }

  @Test
  void snapshot_ofAFileThatGrowsOrIsReplaced_isOfTheOneThatWasOpened() throws Exception {
    Path path = file("main;a 1\n");
    try (StackInput input = StackInput.open(path)) {
      Files.writeString(path, "main;b 2\n", StandardOpenOption.APPEND);
      Files.delete(path);
      Files.writeString(path, "main;other 7\n");
      try (StackFile file = new StackFile(input, 1, 1, null)) {
        assertEquals(3, read(file).total());
      }
    }
  }

  @Test
  void snapshot_ofAPipeWithoutAWriter_saysThatItWaits() throws Exception {
    Path pipe = folder.resolve("silent");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    try (StackFile file = new StackFile(StackInput.open(pipe), 1, 1, null)) {
      assertEquals("waiting for a writer of " + pipe, file.reading().get().waits());
      try (OutputStream out = Files.newOutputStream(pipe)) {
        Snapshot.Reading reading;
        do {
          reading = file.reading().get();
        } while (!reading.waits().equals("waiting for the first line of " + pipe));
        out.write("a;b 1\n".getBytes(UTF_8));
      }
      assertEquals(1, read(file).total());
      assertEquals("", file.reading().get().waits());
    }
  }

  @Test
  void snapshot_ofAFileThatFails_saysWhy() throws Exception {
    Snapshot snapshot = read(Path.of("/proc/self/mem"));
    assertEquals(1, snapshot.notices().size());
    assertTrue(
        snapshot.notices().get(0).startsWith("/proc/self/mem cannot be read: "),
        snapshot.notices()::toString);
  }

  @Test
  void snapshot_ofAHundredThousandFrames_leadsToTheLast() throws Exception {
    StringBuilder line = new StringBuilder("f0");
    for (int i = 1; i < 100_000; i++) {
      line.append(";f").append(i);
    }
    try (StackFile file = new StackFile(StackInput.open(file(line + " 1\n")), 1, 1, null)) {
      file.whole().get();
      GraphSlice slice =
          file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 200_000, null)).get().graph();
      assertEquals(100_001, slice.size());
      assertEquals("f99999", slice.name()[100_000]);
      long last = slice.node()[100_000];
      assertEquals(
          100_001, file.snapshot(query(last, last, 1, null)).get().selection().path().length);
    }
  }

  @Test
  void snapshot_ofFiftyThousandChildren_findsEach() throws Exception {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 50_000; i++) {
      text.append("main;child").append(i).append(" 1\n");
    }
    try (StackFile file = new StackFile(StackInput.open(file(text.toString())), 1, 1, null)) {
      file.whole().get();
      Snapshot.Search found =
          file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 10, "^child49999$")).get().search();
      assertEquals(1, found.count());
      Selection selected =
          file.snapshot(query(GraphQuery.ROOT, found.nodes()[0], 10, null)).get().selection();
      assertArrayEquals(new String[] {"all", "main", "child49999"}, selected.path());
    }
  }

  @Test
  void filter_byTheOutermost_leavesTheRestOut() throws Exception {
    try (StackFile file =
        new StackFile(StackInput.open(file("a;x 1\nb;x 2\nc;y 4\n")), 1, 1, null)) {
      file.whole().get();
      List<String> rows = new ArrayList<>();
      for (ProcessRow row : file.comms(StateSet.ALL).get()) {
        rows.add(row.comm() + " " + row.weight() + "/" + row.total());
      }
      assertEquals(List.of("c 4/7", "b 2/7", "a 1/7"), rows);
      file.shape(Shape.of(new Shape.Comms(Set.of("b"), false)));
      Snapshot snapshot = file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 10, "x")).get();
      assertEquals(List.of("all 2", " b 2", "  x 2"), drawn(snapshot));
      assertEquals(1, snapshot.search().count());
      file.shape(Shape.PLAIN);
      assertEquals(
          7, file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 10, null)).get().total());
    }
  }

  @Test
  void snapshot_whileAPipeIsOpen_hasWhatCameAndThenTheRest() throws Exception {
    Path pipe = folder.resolve("pipe");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    List<OutputStream> opened = new ArrayList<>();
    Thread writer =
        new Thread(
            () -> {
              try {
                OutputStream out = Files.newOutputStream(pipe);
                out.write("a;b 1\na;c".getBytes(UTF_8));
                opened.add(out);
              } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
              }
            });
    writer.start();
    try (StackFile file = new StackFile(StackInput.open(pipe), 1, 1, null)) {
      writer.join();
      Snapshot first;
      do {
        first = file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 10, null)).get();
      } while (first.total() == 0);
      assertEquals(List.of("all 1", " a 1", "  b 1"), drawn(first));
      assertFalse(first.reading().done());
      assertEquals(-1, first.reading().size());
      opened.get(0).write(" 2\n".getBytes(UTF_8));
      opened.get(0).close();
      assertEquals(List.of("all 3", " a 3", "  b 1", "  c 2"), drawn(read(file)));
    }
  }

  @Test
  void open_ofWhatCannotBeRead_saysWhy() {
    assertEquals(
        folder.resolve("none") + " does not exist",
        assertThrows(IOException.class, () -> StackInput.open(folder.resolve("none")))
            .getMessage());
    assertTrue(
        assertThrows(IOException.class, () -> StackInput.open(folder))
            .getMessage()
            .contains("is a folder"));
    assertEquals(
        "/dev/tty is a terminal; give a file or a pipe of folded stacks",
        assertThrows(IOException.class, () -> StackInput.open(Path.of("/dev/tty"))).getMessage());
  }

  private enum Packed {
    GZIP,
    ZSTD,
    XZ,
    BZIP2;

    private OutputStream to(OutputStream out) throws IOException {
      return switch (this) {
        case GZIP -> new GZIPOutputStream(out);
        case ZSTD -> new ZstdOutputStream(out);
        case XZ -> new XZOutputStream(out, new LZMA2Options(1));
        case BZIP2 -> new BZip2HadoopStreams().createOutputStream(out);
      };
    }

    byte[] of(String text) throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      try (OutputStream packing = to(out)) {
        packing.write(text.getBytes(UTF_8));
      }
      return out.toByteArray();
    }
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }

  private static String random(int seed, int lines) {
    Random random = new Random(seed);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines; i++) {
      text.append("main;f").append(random.nextInt(1_000)).append(" 1\n");
    }
    return text.toString();
  }

  private Snapshot read(byte[] bytes) throws Exception {
    return read(Files.write(folder.resolve("a.packed"), bytes));
  }

  @ParameterizedTest
  @EnumSource(Packed.class)
  void snapshot_ofSeveralPackedPieces_hasAll(Packed how) throws Exception {
    byte[] first = how.of(random(1, 3_000));
    byte[] second = how.of(random(2, 4_000));
    Snapshot snapshot = read(joined(first, second));
    assertEquals(7_000, snapshot.total(), snapshot.notices()::toString);
    assertEquals(List.of(), snapshot.notices());
  }

  @ParameterizedTest
  @EnumSource(Packed.class)
  void snapshot_ofSomethingBehindPackedData_saysSo(Packed how) throws Exception {
    for (String rest : List.of("garbage\n", "x", "main;a 5\n".repeat(50_000))) {
      Snapshot snapshot = read(joined(how.of(random(1, 3_000)), rest.getBytes(UTF_8)));
      assertEquals(3_000, snapshot.total(), snapshot.notices()::toString);
      assertEquals(1, snapshot.notices().size(), rest);
    }
  }

  /** A decoder may fail in any way: its failure ends the reading, and is said. */
  @ParameterizedTest
  @EnumSource(Packed.class)
  void snapshot_ofFlippedBits_endsAndSaysWhatIsMissing(Packed how) throws Exception {
    String text = random(1, 2_000);
    List<String> whole = drawn(read(text));
    byte[] good = how.of(text);
    Random random = new Random(how.ordinal());
    int said = 0;
    for (int round = 0; round < 30; round++) {
      byte[] bad = good.clone();
      int flips = 1 + random.nextInt(3);
      for (int i = 0; i < flips; i++) {
        bad[6 + random.nextInt(bad.length - 6)] ^= (byte) (1 << random.nextInt(8));
      }
      Path path = Files.write(folder.resolve("a.packed"), bad);
      try (StackFile file = new StackFile(StackInput.open(path), 1, 1, null)) {
        Snapshot.Reading reading = file.whole().get(60, TimeUnit.SECONDS);
        assertTrue(reading.done());
        Snapshot snapshot = file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 9, null)).get();
        if (snapshot.notices().isEmpty()) {
          assertEquals(whole, drawn(snapshot), "round " + round);
        } else {
          said++;
        }
      }
    }
    assertTrue(said > 10, "said " + said);
  }

  @Test
  void snapshot_ofABadSecondMember_hasTheFirstAndSaysSo() throws Exception {
    byte[] first = Packed.GZIP.of("main;a 300\n");
    byte[] second = Packed.GZIP.of("main;b 400\n");
    second[2] = 9;
    Snapshot snapshot = read(joined(first, second));
    assertEquals(300, snapshot.total());
    assertEquals(
        List.of(
            folder.resolve("a.packed")
                + " is read up to where it failed: damaged gzip data"
                + " (packed in no way that is known); copy it or pack it again"),
        snapshot.notices());
    assertEquals(List.of(), read(joined(first, new byte[1_000])).notices());
  }

  @Test
  void snapshot_ofFramesOfZstdThatHoldNothing_isWithoutThem() throws Exception {
    byte[] skipped = {0x5A, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3};
    byte[] frame = Packed.ZSTD.of("main;a 3\n");
    Snapshot snapshot = read(joined(frame, skipped, frame, skipped));
    assertEquals(6, snapshot.total(), snapshot.notices()::toString);
    assertEquals(List.of(), snapshot.notices());
  }

  @Test
  void whole_ofASilentPipe_costsNothing() throws Exception {
    Path pipe = folder.resolve("silent");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    try (StackFile file = new StackFile(StackInput.open(pipe), 1, 1, null)) {
      CompletableFuture<Snapshot.Reading> whole = file.whole();
      OutputStream out = Files.newOutputStream(pipe);
      ThreadMXBean threads = ManagementFactory.getThreadMXBean();
      long fold =
          Thread.getAllStackTraces().keySet().stream()
              .filter(t -> t.getName().equals("file") && t.isAlive())
              .mapToLong(Thread::getId)
              .max()
              .orElseThrow();
      long before = threads.getThreadCpuTime(fold);
      Thread.sleep(500);
      assertTrue(threads.getThreadCpuTime(fold) - before < 100_000_000);
      assertFalse(whole.isDone());
      out.write("a;b 1\n".getBytes(UTF_8));
      out.close();
      assertEquals(1, whole.get().stacks());
    }
  }

  @Test
  void compared_ofManyVanishedFunctions_hasEach() throws Exception {
    StringBuilder gone = new StringBuilder();
    for (int i = 0; i < 6_000; i++) {
      gone.append("a;gone").append(i).append(" 1\n");
    }
    Path before = Files.writeString(folder.resolve("before"), gone);
    Path now = Files.writeString(folder.resolve("now"), "a;new 5\na;same 5\n");
    try (StackFile file = StackFile.compared(StackInput.open(before), StackInput.open(now), null)) {
      file.whole().get();
      TopQuery query = new TopQuery(StateSet.ALL, TopQuery.Order.TOTAL, 9_000, null, null);
      TopReport report = (TopReport) file.page(query).get();
      assertEquals(6_003, report.functions());
      assertEquals(6_000, report.rows().stream().filter(TopReport.Row::isGone).count());
      TopReport.Row root =
          report.rows().stream().filter(r -> r.function().name().equals("a")).findFirst().get();
      assertEquals(0, root.before().self());
      assertEquals(1.0, (double) root.before().total() / report.total(), 1e-9);
      TopReport.Row one = report.rows().stream().filter(TopReport.Row::isGone).findFirst().get();
      assertEquals(1.0 / 6_000, (double) one.before().self() / report.total(), 1e-9);
      GraphQuery narrow =
          new GraphQuery(StateSet.ALL, GraphQuery.ROOT, GraphQuery.ROOT, 80, 9, null);
      GraphSlice slice = file.snapshot(narrow).get().graph();
      int shown = 0;
      for (int i = 0; i < slice.size(); i++) {
        boolean isGone = slice.bundled()[i] == 0 && slice.name()[i].startsWith("gone");
        shown += slice.hiddenCount()[i] + slice.bundled()[i] + (isGone ? 1 : 0);
      }
      assertEquals(6_000, shown);
    }
  }

  @Test
  void snapshot_ofFractions_sumsThem() throws Exception {
    assertEquals(
        List.of("all 4", " a 4", "  b 3", "  c 1"),
        drawn(read("a;b 0.3\n".repeat(10) + "a;c 0.75\na;c 0.25\n")));
    assertEquals(List.of("all 0.007", " a 0.007"), drawn(read("a 0.0035\na 3.5e3\na 0.0035\n")));
    String many = "a;b 0.123456789\n".repeat(1_000) + "a;c 1\n";
    assertEquals(List.of("all 124.456789", " a 124.456789"), drawn(read(many)).subList(0, 2));
  }

  @Test
  void snapshot_ofFractionsThatLeaveNoRoom_keepsWhatThereIsRoomFor() throws Exception {
    Snapshot snapshot = read("a;b 0.123456789\na;c 900000000000000000\na;c 0.5\n");
    assertEquals(List.of(), snapshot.notices());
    double parts = snapshot.measure().parts();
    assertEquals(9e17, snapshot.total() / parts, 1);
  }

  @Test
  void compared_ofNumbersBeyondDoubles_isExact() throws Exception {
    Path before = Files.writeString(folder.resolve("before"), "a;b 9007199254740993\n");
    Path now = Files.writeString(folder.resolve("now"), "a;b 123456789012345678\na;c 0.5\n");
    try (StackFile file = StackFile.compared(StackInput.open(before), StackInput.open(now), null)) {
      file.whole().get();
      HeldStacks held = file.held(0).get();
      List<String> stacks = new ArrayList<>();
      held.forEach(s -> stacks.add(s.before() + " " + s.value()));
      assertEquals(List.of("90071992547409930 1234567890123456780", "0 5"), stacks);
      assertEquals(1, held.decimals());
    }
  }

  @Test
  void snapshot_ofZerosAlone_saysSo() throws Exception {
    assertEquals(List.of("all of its numbers are 0"), read("a;b 0\na;c 0.0\n").notices());
    assertEquals(List.of(), read("a;b 0\na;c 0.1\n").notices());
  }

  @Test
  void snapshot_ofTheFirstFrame_isACommOnlyIfTheFileSaysSo() throws Exception {
    String stacks = "<module> (x.py:24);f 1\n<module> (x.py:24) 2\n";
    assertEquals(NodeKind.USER, read(stacks).graph().kind()[1]);
    for (String says : List.of("# first frame: comm\n", "# program: flametop 0.0.9\n")) {
      assertEquals(NodeKind.PROCESS, read(says + stacks).graph().kind()[1], says);
    }
    assertEquals(
        NodeKind.USER,
        read("# first frame: function\n# program: flametop 0.1.0\n" + stacks).graph().kind()[1]);
    try (StackFile file = new StackFile(StackInput.open(file(says() + stacks)), 1, 1, false)) {
      assertEquals(NodeKind.USER, read(file).graph().kind()[1]);
    }
  }

  private static String says() {
    return "# first frame: comm\n";
  }

  @Test
  void shape_withACommOrWithout_isThatOfTheKeyAndBack() throws Exception {
    try (StackFile file = new StackFile(StackInput.open(file("m;f;m 1\nm;g 2\n")), 1, 1, null)) {
      TopQuery query = new TopQuery(StateSet.ALL, TopQuery.Order.TOTAL, 9, null, null);
      assertEquals(3, read(file).total());
      assertEquals(3, ((TopReport) file.page(query).get()).functions());
      long g = read(file).graph().node()[4];
      file.shape(Shape.of(new Shape.Comm(true)));
      Snapshot comm = file.snapshot(query(GraphQuery.ROOT, g, 9, "m")).get();
      assertEquals(List.of("all 3", " m 3", "  f 1", "   m 1", "  g 2"), drawn(comm));
      assertEquals(NodeKind.PROCESS, comm.graph().kind()[1]);
      assertArrayEquals(new String[] {"all", "m", "g"}, comm.selection().path());
      assertEquals(2, comm.search().count());
      file.shape(Shape.of(new Shape.Comm(true), new Shape.Group(RootOrder.NONE)));
      assertEquals(List.of("all 3", " f 1", "  m 1", " g 2"), drawn(read(file)));
      file.shape(Shape.of(new Shape.Reverse()));
      assertEquals(List.of("all 3", " g 2", "  m 2", " m 1", "  f 1", "   m 1"), drawn(read(file)));
      file.shape(Shape.PLAIN);
      assertEquals(List.of("all 3", " m 3", "  f 1", "   m 1", "  g 2"), drawn(read(file)));
      assertEquals(NodeKind.USER, read(file).graph().kind()[1]);
    }
  }

  private static byte[] pprof() throws IOException {
    byte[] start = {0x0A, 4, 0x08, 1, 0x10, 2, 0x12, 5, 0x0A, 1, 1, 0x12, 0};
    byte[] rest = "\042\002\010\001\052\004\010\001\020\003\062\000\062\004f 12\n".getBytes(UTF_8);
    return joined(start, rest);
  }

  @Test
  void snapshot_ofAnotherSortWithLinesLikeStacks_namesItAndDrawsNothing() throws Exception {
    Map<String, String> wanted = new TreeMap<>();
    wanted.put("{\n  \"weights\": [\n    1,\n    12\n  ],\n \"x\": 12\n}\n", "JSON");
    wanted.put(
        "{\n\"$schema\": \"https://www.speedscope.app/file-format-schema.json\",\n\"a\":\n 5\n}\n",
        "a profile of speedscope");
    wanted.put(
        "# callgrind format\nversion: 1\nevents: Ir\nfn=(1) main\n16 400\n",
        "a profile of callgrind");
    wanted.put("version: 1\nevents: Ir\n\nfl=(1)\nfn=(1) main\n16 400\n", "callgrind");
    wanted.put("goroutine profile: total 12\n1 @ 0x43\n", "pprof as text");
    wanted.put("PeriodType: cpu nanoseconds\nPeriod: 10000000\n", "pprof as text");
    wanted.put("Attaching 1 probe...\n@[bash]: 12\n", "what bpftrace prints");
    wanted.put("@[\n  read+1\n]: 12\n", "what bpftrace prints");
    wanted.put("<?xml version=\"1.0\"?>\n<g> 12\n", "a page or a picture");
    wanted.put("a;b 1\ra;c 2\ra;d 3", "lines end in CR alone");
    wanted.put("PK\003\004 x 12\n", "packed by zip");
    wanted.put("FLR\0\n a 12\n", "Java Flight Recorder");
    wanted.put(new String(pprof(), UTF_8), "a profile of pprof");
    for (Map.Entry<String, String> of : wanted.entrySet()) {
      Snapshot snapshot = read(of.getKey());
      assertEquals(0, snapshot.total(), of.getKey());
      assertEquals(1, snapshot.notices().size(), of.getValue());
      String notice = snapshot.notices().get(0);
      assertTrue(notice.contains("has no stacks: ") && notice.contains(of.getValue()), notice);
    }
    for (String stacks :
        List.of(
            "{lambda};f 1\n",
            "[kernel];f 1\n",
            "<module> (x.py:24);f 1\n",
            "<module> 1\n",
            "[] 1\n",
            "@x[1];f 1\n",
            "\nevents: poll;f 1\n",
            "a;f 1\r\na;g 1\r\n")) {
      assertTrue(read(stacks).total() > 0, stacks);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "worker 3 10\nmain 5\n",
        "a;b 1 2\na;c 3 4\n",
        "a;b 1 2\nbad\n# x\na;c 3\na;d 4 5\n",
        "{\n \"a\": 12\n}\n",
        "@a[\n b 12\n]: 5\n",
        "# first frame: comm\nx;y 0.5\nx;z 1\n",
      })
  void fold_ofOneText_isTheSameHoweverItWasCut(String text) {
    List<String> results = new ArrayList<>();
    byte[] bytes = text.getBytes(UTF_8);
    for (int most = bytes.length; most > 0; most--) {
      StackNames names = new StackNames();
      StackTree tree = new StackTree();
      StackLines lines = new StackLines(names, tree, StackTree.NOW, true);
      int from = 0;
      for (int at = 1; at <= bytes.length; at++) {
        if (bytes[at - 1] == '\n' && (at == bytes.length || at - from >= most)) {
          lines.fold(bytes, from, at);
          from = at;
        }
      }
      tree.sumUp();
      StringBuilder result = new StringBuilder();
      for (int node = 0; node < tree.nodes(); node++) {
        if (tree.weight(node, 0) > 0 || tree.baseline(node, 0) > 0) {
          result.append(names.name(tree.function(node))).append(' ');
          result.append(tree.weight(node, 0)).append(' ').append(tree.baseline(node, 0));
          result.append(' ').append(names.kind(tree.function(node))).append('\n');
        }
      }
      results.add(result + lines.whyNone() + lines.bad() + tree.hasBaseline() + lines.stacks());
    }
    assertEquals(1, Set.copyOf(results).size(), results::toString);
  }

  @Test
  void held_ofNamesThatDifferInBadBytesAlone_staysApart() throws Exception {
    byte[] text = "a;x? 1\na;x! 2\na;x?! 4\na;\u00e9? 8\n".getBytes(UTF_8);
    for (int i = 0; i < text.length; i++) {
      text[i] = text[i] == '?' ? (byte) 0xFF : text[i] == '!' ? (byte) 0xC3 : text[i];
    }
    Path path = Files.write(folder.resolve("bad"), text);
    try (StackFile file = new StackFile(StackInput.open(path), 1, 1, null)) {
      file.whole().get();
      Map<String, Long> stacks = new TreeMap<>();
      file.held(0).get().forEach(s -> stacks.put(String.join(";", s.names()), s.value()));
      assertEquals(
          Map.of("a;x\\xFF", 1L, "a;x\\xC3", 2L, "a;x\\xFF\\xC3", 4L, "a;\u00e9\\xFF", 8L), stacks);
    }
  }

  /** Lines of all lengths, in pieces of all lengths, beside sums by whole stacks. */
  @Test
  void fold_ofRandomLinesInRandomPieces_isTheNaiveSum() {
    Random random = new Random(7);
    for (int round = 0; round < 200; round++) {
      Map<String, Long> expected = new TreeMap<>();
      StackNames names = new StackNames();
      StackTree tree = new StackTree();
      StackLines lines = new StackLines(names, tree, StackTree.NOW, true);
      String[] last = new String[0];
      StringBuilder piece = new StringBuilder();
      for (int i = 0; i < 300; i++) {
        int kept = last.length == 0 ? 0 : random.nextInt(last.length + 1);
        String[] stack = java.util.Arrays.copyOf(last, kept + random.nextInt(4));
        for (int at = kept; at < stack.length; at++) {
          stack[at] = "f ".repeat(random.nextInt(3)) + "x".repeat(1 + random.nextInt(12));
        }
        if (stack.length > 0) {
          last = stack;
          String joined = String.join(";", stack);
          long value = random.nextInt(5) == 0 ? 1_000_000_000_000L : random.nextInt(20);
          piece.append(joined).append(' ').append(value).append('\n');
          expected.merge(joined, value, Long::sum);
        }
        if (random.nextInt(10) == 0) {
          byte[] bytes = piece.toString().getBytes(UTF_8);
          lines.fold(bytes, 0, bytes.length);
          // The piece is used again by whoever reads.
          java.util.Arrays.fill(bytes, (byte) 'z');
          piece.setLength(0);
        }
      }
      byte[] bytes = piece.toString().getBytes(UTF_8);
      lines.fold(bytes, 0, bytes.length);
      Map<String, Long> folded = new TreeMap<>();
      for (int node = 1; node < tree.nodes(); node++) {
        StringBuilder path = new StringBuilder();
        for (int n = node; n > 0; n = tree.parent(n)) {
          path.insert(0, names.name(tree.function(n)) + (path.isEmpty() ? "" : ";"));
        }
        if (expected.containsKey(path.toString())) {
          folded.put(path.toString(), tree.own(node, StackTree.NOW));
        } else {
          assertEquals(0, tree.own(node, StackTree.NOW), path.toString());
        }
      }
      assertEquals(expected, folded);
      tree.sumUp();
      assertEquals(expected.values().stream().mapToLong(Long::longValue).sum(), tree.weight(0, 0));
    }
  }
}
