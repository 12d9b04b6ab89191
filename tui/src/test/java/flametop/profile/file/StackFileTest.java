package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
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
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class StackFileTest extends StackFileFixture {
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
        read("# first frame: comm\nx;f;g_[k] 1\nx;h_[j];i_[i];q_[p];r_[h];s_[r];[unknown] 1\nx;[truncated] 1\n")
            .graph();
    Map<String, NodeKind> kinds = new TreeMap<>();
    for (int i = 0; i < slice.size(); i++) {
      kinds.put(slice.name()[i], slice.kind()[i]);
    }
    assertEquals(
        Map.ofEntries(
            Map.entry("all", NodeKind.ROOT),
            Map.entry("x", NodeKind.PROCESS),
            Map.entry("f", NodeKind.USER),
            Map.entry("g", NodeKind.KERNEL),
            Map.entry("h", NodeKind.JIT),
            Map.entry("i", NodeKind.INLINED),
            Map.entry("q", NodeKind.PYTHON),
            Map.entry("r", NodeKind.PHP),
            Map.entry("s", NodeKind.RUBY),
            Map.entry("[unknown]", NodeKind.UNKNOWN),
            Map.entry("[truncated]", NodeKind.REASON)),
        kinds);
  }

  @Test
  void snapshot_ofACommentWithTheUnit_hasIt() throws Exception {
    Snapshot snapshot = read("# unit: us\n# below: all > my unit: x\nmain;a 5\n");
    assertEquals("us", snapshot.reading().measure().unit());
    assertEquals("samples", read("main;a 5\n").reading().measure().unit());
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
    assertEquals(plain, drawn(read(Packed.GZIP.of("\uFEFFa;b 1\r\na;c 2\r\n"))));
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
    List<String> said = new ArrayList<>();
    lines.tally().complain("", said);
    assertEquals(
        List.of(
            "2 stacks are left out, first line 3: there is no memory for more frames; a part of"
                + " the file needs less"),
        said);
  }

  @Test
  void snapshot_ofAFileThatIsCutMeanwhile_saysSo() throws Exception {
    Path path = file("main;a;b 3\n".repeat(300_000));
    try (StackInput input = StackInput.open(path)) {
      Files.writeString(path, "main;a 1\n");
      try (StackFile file = new StackFile(input, 1, 1, StackFile.Choice.NONE)) {
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
      try (StackFile file = new StackFile(input, 1, 1, StackFile.Choice.NONE)) {
        assertEquals(3, read(file).total());
      }
    }
  }

  @Test
  void snapshot_ofAPipeWithoutAWriter_saysThatItWaits() throws Exception {
    Path pipe = pipe();
    try (StackFile file = open(pipe)) {
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
    try (StackFile file = open(line + " 1\n")) {
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
    try (StackFile file = open(text.toString())) {
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
    try (StackFile file = open("a;x 1\nb;x 2\nc;y 4\n")) {
      List<String> rows = new ArrayList<>();
      for (ProcessRow row : file.rows(ProcessRow.By.COMM, StateSet.ALL).get()) {
        rows.add(row.comm() + " " + row.weight() + "/" + row.total());
      }
      assertEquals(List.of("c 4/7", "b 2/7", "a 1/7"), rows);
      file.shape(Shape.of(new Shape.Comms(Set.of("b"), false)));
      Snapshot snapshot = file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT, 10, "x")).get();
      assertEquals(List.of("all 2", " b 2", "  x 2"), drawn(snapshot));
      assertEquals(1, snapshot.search().count());
      file.shape(Shape.PLAIN);
      assertEquals(7, file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT)).get().total());
    }
  }

  @Test
  void snapshot_whileAPipeIsOpen_hasWhatCameAndThenTheRest() throws Exception {
    Path pipe = pipe();
    CompletableFuture<OutputStream> written = written(pipe, "a;b 1\na;c");
    try (StackFile file = open(pipe)) {
      OutputStream out = written.get();
      Snapshot first;
      do {
        first = file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT)).get();
      } while (first.total() == 0);
      assertEquals(List.of("all 1", " a 1", "  b 1"), drawn(first));
      assertFalse(first.reading().done());
      assertEquals(-1, first.reading().size());
      out.write(" 2\n".getBytes(UTF_8));
      out.close();
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

  @Test
  void whole_ofASilentPipe_costsNothing() throws Exception {
    Path pipe = pipe();
    try (StackFile file = open(pipe)) {
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
  void snapshot_ofTheFirstFrame_isACommOnlyIfTheFileSaysSo() throws Exception {
    String stacks = "<module> (x.py:24);f 1\n<module> (x.py:24) 2\n";
    assertEquals(NodeKind.USER, read(stacks).graph().kind()[1]);
    for (String says : List.of("# first frame: comm\n", "# program: flametop 0.0.9\n")) {
      assertEquals(NodeKind.PROCESS, read(says + stacks).graph().kind()[1], says);
    }
    assertEquals(
        NodeKind.USER,
        read("# first frame: function\n# program: flametop 0.1.0\n" + stacks).graph().kind()[1]);
    try (StackFile file = open("# first frame: comm\n" + stacks, StackFile.Choice.comm(false))) {
      assertEquals(NodeKind.USER, read(file).graph().kind()[1]);
    }
  }

  @Test
  void shape_withACommOrWithout_isThatOfTheKeyAndBack() throws Exception {
    try (StackFile file = open("m;f;m 1\nm;g 2\n")) {
      assertEquals(3, read(file).total());
      assertEquals(3, top(file, TopQuery.Order.TOTAL, 9, null).functions());
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

  @Test
  void snapshot_ofAnotherSort_namesItAndDrawsNothing() throws Exception {
    Map<String, String> wanted = new TreeMap<>();
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
    wanted.put("PERFILE2\0\0\0", "it is a recording of perf");
    wanted.put("<svg>\n</svg>\n", "it is a page or a picture");
    wanted.put("\0\0\1\n", "it is no text");
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

  @Test
  void held_ofNamesThatDifferInBadBytesAlone_staysApart() throws Exception {
    byte[] text = "a;x? 1\na;x! 2\na;x?! 4\na;\u00e9? 8\n".getBytes(UTF_8);
    for (int i = 0; i < text.length; i++) {
      text[i] = text[i] == '?' ? (byte) 0xFF : text[i] == '!' ? (byte) 0xC3 : text[i];
    }
    Path path = Files.write(folder.resolve("bad"), text);
    try (StackFile file = open(path)) {
      file.whole().get();
      Map<String, Long> stacks = new TreeMap<>();
      file.held(0).get().forEach(s -> stacks.put(String.join(";", s.names()), s.value()));
      assertEquals(
          Map.of("a;x\\xFF", 1L, "a;x\\xC3", 2L, "a;x\\xFF\\xC3", 4L, "a;\u00e9\\xFF", 8L), stacks);
    }
  }
}
