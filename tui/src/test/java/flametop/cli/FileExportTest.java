package flametop.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.export.StackExport;
import flametop.export.StackFormat;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackFiles;
import flametop.profile.file.StackInput;
import flametop.profile.tree.HeldStacks;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files as they are exported: written while they are walked. */
class FileExportTest {
  private static final int STACKS = 3_000;

  private static StackFile file(byte[] text) {
    return file(new ByteArrayInputStream(text));
  }

  private static StackFile file(InputStream text) {
    return new StackFile(StackInput.of("a", -1, text), 1, 1, StackFile.Choice.comm(true));
  }

  private static Map<String, Long> stacks(Random random, int count) {
    Map<String, Long> stacks = new LinkedHashMap<>();
    for (int i = 0; i < count; i++) {
      StringBuilder path = new StringBuilder("p" + random.nextInt(3));
      for (int depth = random.nextInt(12); depth > 0; depth--) {
        path.append(';').append((char) ('a' + random.nextInt(9)));
        path.append(random.nextInt(4) == 0 ? "é🔥" : "");
      }
      stacks.merge(path.toString(), 1L + random.nextInt(9), Long::sum);
    }
    return stacks;
  }

  private static String text(Map<String, Long> stacks) {
    StringBuilder text = new StringBuilder();
    stacks.forEach((path, value) -> text.append(path).append(' ').append(value).append('\n'));
    return text.toString();
  }

  /** All of them in a list, and then in order. */
  private static StackExport listed(StackExport as, Map<String, Long> stacks, boolean reversed) {
    List<FoldedStack> list = new ArrayList<>();
    stacks.forEach(
        (path, value) -> {
          List<String> names = new ArrayList<>(List.of(path.split(";")));
          NodeKind[] kinds = new NodeKind[names.size()];
          Arrays.fill(kinds, NodeKind.USER);
          kinds[0] = NodeKind.PROCESS;
          if (reversed) {
            Collections.reverse(names.subList(1, names.size()));
          }
          String[] modules = new String[kinds.length];
          Arrays.fill(modules, "");
          list.add(new FoldedStack(names.toArray(String[]::new), kinds, modules, value, List.of()));
        });
    list.sort(Comparator.comparing(FoldedStack::names, Arrays::compare));
    long total = stacks.values().stream().mapToLong(v -> v).sum();
    return new StackExport(as.provenance(), as.measure(), list, total, 0, true);
  }

  private static byte[] bytes(StackFormat format, StackExport export) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long unused = format.write(export, out);
    return out.toByteArray();
  }

  @ParameterizedTest
  @EnumSource(StackFormat.class)
  void export_ofAFile_isByteForByteThatOfAllStacksInAList(StackFormat format) throws Exception {
    Map<String, Long> stacks = stacks(new Random(format.ordinal()), STACKS);
    try (StackFile file = file(text(stacks).getBytes(UTF_8))) {
      Snapshot.Reading reading = file.whole().get();
      for (boolean reversed : new boolean[] {false, true}) {
        file.shape(reversed ? Shape.of(new Shape.Reverse()) : Shape.PLAIN);
        StackExport export = FileScreen.export(reading, file.held(0).get(), null);
        StackExport listed = listed(export, stacks, reversed);
        assertEquals(listed.total(), export.total());
        assertArrayEquals(bytes(format, listed), bytes(format, export));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void export_ofStacksWithoutAFrame_keepsTheirTime(boolean reversed) throws Exception {
    Shape shape = Shape.of(new Shape.Group(RootOrder.NONE));
    Shape turned = reversed ? shape.plus(new Shape.Reverse()) : shape;
    StackExport export = export("p 5\np;a 2\np;a;b 1\n", turned, null);
    String last = reversed ? "b;a 1" : "a;b 1";
    assertEquals(List.of("[no stack] 5", "a 2", last), stackLines(export));
    assertEquals(8, export.total());
  }

  @Test
  void export_whileTheFileIsRead_isThatOfItsMoment() throws Exception {
    Map<String, Long> first = stacks(new Random(11), STACKS);
    Map<String, Long> rest = stacks(new Random(12), STACKS);
    rest.keySet().removeAll(first.keySet());
    PipedOutputStream writer = new PipedOutputStream();
    try (StackFile file = file(new PipedInputStream(writer, 1 << 16))) {
      writer.write(text(first).getBytes(UTF_8));
      writer.flush();
      long all = first.values().stream().mapToLong(v -> v).sum();
      HeldStacks held = file.held(0).get();
      while (held.total() < all) {
        held = file.held(0).get();
      }
      StackExport export = FileScreen.export(file.reading().get(), held, null);
      List<String> before = lines(export);
      writer.write(text(rest).getBytes(UTF_8));
      writer.close();
      long unused = file.whole().get().stacks();
      assertEquals(before, lines(export));
      assertEquals(lines(listed(export, first, false)), before);
    }
  }

  @Test
  void export_ofNamesThatAreCleanedToOne_hasTheirPathOnce() throws Exception {
    String text = "p;x\001;a 1\np;x\002;a 2\np;x\003;b_[k] 3\np;x\001;b 4\n";
    assertEquals(
        List.of("p;x\uFFFD;a 3", "p;x\uFFFD;b 4", "p;x\uFFFD;b_[k] 3"),
        stackLines(export(text, Shape.PLAIN, null)));
  }

  private static List<String> lines(StackExport export) throws IOException {
    return new String(bytes(StackFormat.FOLDED, export), UTF_8).lines().toList();
  }

  private static List<String> stackLines(StackExport export) throws IOException {
    return lines(export).stream().filter(line -> !line.startsWith("# ")).toList();
  }

  private static StackExport export(String text, Shape shape, Function through) throws Exception {
    return export(text.getBytes(UTF_8), shape, through);
  }

  private static StackExport export(byte[] text, Shape shape, Function through) throws Exception {
    try (StackFile file = file(text)) {
      Snapshot.Reading reading = file.whole().get();
      file.shape(shape);
      return FileScreen.export(reading, file.held(0).get(), through);
    }
  }

  @Test
  void export_ofASandwich_hasTheStacksThroughItsFunction() throws Exception {
    Function through = new Function(NodeKind.USER, "", "f");
    StackExport export = export("p;f;a 1\np;f_[k];a 2\np;a;f 4\np;a 8\n", Shape.PLAIN, through);
    assertEquals(5, export.total());
    List<String> lines = lines(export);
    assertEquals(List.of("p;a;f 4", "p;f;a 1"), lines.subList(lines.size() - 2, lines.size()));
    assertTrue(lines.contains("# filter: f"), lines::toString);
  }

  @Test
  void export_ofAShape_saysIt() throws Exception {
    Shape shape = Shape.of(new Shape.Merge());
    assertTrue(lines(export("p;f;f 1\n", shape, null)).contains("# filter: recursion merged"));
  }

  @Test
  void export_ofFoldedRuntimes_hasTheirTimeAtTheirCallers() throws Exception {
    String text =
        """
        java;libjvm.so`call;Shop.run_[j];libjvm.so`park;libc.so.6`wait 2
        java;libjvm.so`call;Shop.run_[j];libjvm.so`allocate 3
        """;
    Shape shape = Shape.of(new Shape.FoldRuntimes());
    List<String> lines = lines(export(text, shape, null));
    assertTrue(lines.contains("# filter: runtimes folded"), lines::toString);
    List<String> folded = List.of("java;Shop.run_[j] 3", "java;Shop.run_[j];libc.so.6`wait 2");
    assertEquals(folded, lines.subList(lines.size() - 2, lines.size()));
    byte[] pprof = bytes(StackFormat.PPROF, export(text, Shape.PLAIN, null));
    List<String> again = lines(export(pprof, shape, null));
    assertTrue(again.contains("java;Shop.run_[j] 3"), again::toString);
    assertFalse(String.join("\n", again).contains("libjvm"), again::toString);
  }

  @Test
  void export_ofTwoNumbers_saysWhichOfThemItHas() throws Exception {
    List<String> lines = lines(export("p;f 1 2\np;g 3 0\n", Shape.PLAIN, null));
    assertTrue(lines.contains("# counts: of what is now, not of what it is compared with"));
    assertEquals("p;f 2", lines.get(lines.size() - 1));
  }

  @Test
  void export_ofZeros_isEmpty() throws Exception {
    assertTrue(export("p;f 0\n", Shape.PLAIN, null).isEmpty());
  }

  @Test
  void export_beyondWhatADoubleCounts_isExact() throws Exception {
    StackExport export = export("p;f 999999999999999\n".repeat(10) + "p;f 1\n", Shape.PLAIN, null);
    assertEquals("1 stacks, 9,999,999,999,999,991 samples", export.describe(1));
    List<String> lines = lines(export);
    assertEquals("p;f 9999999999999991", lines.get(lines.size() - 1));
  }

  @Test
  void export_hundredThousandFramesDeep_inEveryFormat() throws Exception {
    StackExport export = export("f;".repeat(100_000) + "g 1\n", Shape.PLAIN, null);
    for (StackFormat format : StackFormat.values()) {
      assertTrue(bytes(format, export).length > 0);
    }
    assertEquals(100_001, lines(export).get(lines(export).size() - 1).split(";").length);
  }

  @Test
  void export_belowANodeOfAnotherFile_isBelowItsPath() throws Exception {
    List<StackInput> inputs = new ArrayList<>();
    for (String text : List.of("p;a 1\np;b;x 2\n", "q;z 1\np;b;y 4\np;a 8\n")) {
      inputs.add(StackInput.of("a", -1, new ByteArrayInputStream(text.getBytes(UTF_8))));
    }
    try (StackFiles files = new StackFiles(inputs, StackFile.Choice.comm(true))) {
      long unused = files.shown().whole().get().stacks();
      GraphQuery query =
          new GraphQuery(StateSet.ALL, GraphQuery.ROOT, GraphQuery.ROOT, 100, 9, null);
      GraphSlice graph = files.snapshot(query).get().graph();
      int at = Arrays.asList(graph.name()).indexOf("b");
      files.turn(1);
      unused = files.shown().whole().get().stacks();
      StackExport export =
          FileScreen.export(
              files.shown().reading().get(), files.held(graph.node()[at]).get(), null);
      List<String> lines = lines(export);
      assertTrue(lines.contains("# below: p > b"), lines::toString);
      assertEquals("p;b;y 4", lines.get(lines.size() - 1));
      assertEquals(4, export.total());
    }
  }
}
