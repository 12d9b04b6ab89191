package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.QualityReport;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.NaiveShape;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shapes of files of stacks, their functions, callers and callees. */
class StackShapeTest extends StackFileFixture {
  private static final String STACKS =
      "a;main;parse;lex 3\na;main;run;parse;lex 2\nb;main;run;run 5\nb;idle_[k] 1\n";

  private static final StackFile.Choice COMM = StackFile.Choice.comm(true);

  private static Function function(String name) {
    return new Function(NodeKind.USER, "", name);
  }

  /** Once it has the shape that it is to have. */
  private static Snapshot shaped(StackFile file) throws Exception {
    Snapshot snapshot;
    do {
      snapshot = file.snapshot(query(GraphQuery.ROOT, GraphQuery.ROOT)).get();
    } while (snapshot.refolding());
    return snapshot;
  }

  private static Sandwich sandwich(StackFile file, Function function) throws Exception {
    Sandwich sandwich;
    do {
      SandwichQuery query =
          new SandwichQuery(
              StateSet.ALL, function, 0, null, 0, null, 0, 1_000_000, 100, null, false);
      sandwich = (Sandwich) file.page(query).get();
    } while (sandwich.refolding());
    return sandwich;
  }

  /** {@code all;a;b 3}, for each node. */
  private static Set<String> drawn(GraphSlice slice) {
    Set<String> lines = new java.util.TreeSet<>();
    for (int i = 0; i < slice.size(); i++) {
      StringBuilder path = new StringBuilder();
      for (int p = i; p > 0; p = slice.parent()[p]) {
        path.insert(0, ";" + slice.name()[p]);
      }
      lines.add("all" + path + " " + slice.weight()[i]);
    }
    return lines;
  }

  @Test
  void shape_callersAndCallees_areThoseOfTheFunction() throws Exception {
    try (StackFile file = open(STACKS, COMM)) {
      file.shape(Shape.of(new Shape.Callers(function("parse"))));
      assertEquals(
          Set.of(
              "all 5",
              "all;a 5",
              "all;a;parse 5",
              "all;a;parse;main 3",
              "all;a;parse;run 2",
              "all;a;parse;run;main 2"),
          drawn(shaped(file).graph()));
      file.shape(Shape.of(new Shape.Group(RootOrder.NONE), new Shape.Callees(function("parse"))));
      assertEquals(Set.of("all 5", "all;parse 5", "all;parse;lex 5"), drawn(shaped(file).graph()));
      file.shape(Shape.PLAIN);
      assertEquals(11, shaped(file).total());
    }
  }

  @Test
  void shape_notGrouped_hasTheStacksOfAllTogether() throws Exception {
    try (StackFile file = open(STACKS, COMM)) {
      file.shape(Shape.of(new Shape.Group(RootOrder.NONE), new Shape.Merge()));
      assertEquals(
          Set.of(
              "all 11",
              "all;main 10",
              "all;main;parse 3",
              "all;main;parse;lex 3",
              "all;main;run 7",
              "all;main;run;parse 2",
              "all;main;run;parse;lex 2",
              "all;idle 1"),
          drawn(shaped(file).graph()));
    }
  }

  @Test
  void shape_ofWhatStacksDoNotKnow_isRefused() throws Exception {
    try (StackFile file = open(STACKS, COMM)) {
      for (Shape.Step step :
          List.of(
              new Shape.Cpus(Set.of(1), false),
              new Shape.Users(Set.of(0), false),
              new Shape.Ancestors(Set.of("a"), true),
              new Shape.Group(RootOrder.CPU))) {
        assertFalse(StackFile.knows(step));
        assertThrows(IllegalArgumentException.class, () -> file.shape(Shape.of(step)));
      }
      assertTrue(StackFile.knows(new Shape.Comms(Set.of("a"), true)));
      PageQuery tasks = new QualityReport.Query();
      assertThrows(ExecutionException.class, () -> file.page(tasks).get());
    }
  }

  @Test
  void shape_moduleCollapsed_isThatWhichTheNameSays() throws Exception {
    try (StackFile file =
        open(
            "x;libc.so.6`start;libc.so.6`main;f;g [/usr/lib/libm.so];[libm.so];k1_[k];k2_[k] 4\n",
            COMM)) {
      file.shape(
          Shape.of(
              new Shape.Collapse("libc.so.6"),
              new Shape.Collapse("libm.so"),
              new Shape.Collapse("[kernel]")));
      List<String> names = Arrays.asList(shaped(file).graph().name());
      assertEquals(List.of("all", "x", "[libc.so.6]", "f", "[libm.so]", "[kernel]"), names);
    }
  }

  @Test
  void shape_selectionAndZoom_stayWhereTheirPathIs() throws Exception {
    try (StackFile file = open(STACKS, COMM)) {
      GraphSlice all = shaped(file).graph();
      int lex = Arrays.asList(all.name()).indexOf("lex");
      file.shape(Shape.of(new Shape.Comms(Set.of("b"), true)));
      shaped(file);
      Selection selection =
          file.snapshot(query(all.node()[lex], all.node()[lex])).get().selection();
      assertEquals("lex", selection.path()[selection.path().length - 1]);
      assertNotEquals(all.node()[lex], selection.node());
      file.shape(Shape.of(new Shape.Group(RootOrder.NONE)));
      shaped(file);
      selection = file.snapshot(query(GraphQuery.ROOT, selection.node())).get().selection();
      assertEquals("lex", selection.path()[selection.path().length - 1]);
    }
  }

  @Test
  void shape_ofTwoFiles_comparesSharesOfTheWhole() throws Exception {
    try (StackFile file = open("a;b 10 30\na;c 30 10\n", COMM)) {
      file.shape(Shape.of(new Shape.Through(function("b"), false)));
      Snapshot snapshot = shaped(file);
      GraphSlice slice = snapshot.graph();
      int b = Arrays.asList(slice.name()).indexOf("b");
      assertEquals(30 * snapshot.measure().parts(), slice.weight()[b]);
      assertEquals(10 * snapshot.measure().parts(), slice.baseline()[b]);
    }
  }

  @Test
  void shape_whileAPipeIsOpen_hasWhatComesLaterToo() throws Exception {
    Path pipe = pipe();
    CompletableFuture<OutputStream> written = written(pipe, "a;b;c 1\n");
    try (StackFile file = open(pipe, COMM)) {
      OutputStream out = written.get();
      file.shape(Shape.of(new Shape.Callees(function("c"))));
      Snapshot first;
      do {
        first = shaped(file);
      } while (first.total() == 0);
      assertEquals(Set.of("all 1", "all;a 1", "all;a;c 1"), drawn(first.graph()));
      long c = first.graph().node()[2];
      out.write("a;b;c;d 2\na;b 7\n".getBytes(UTF_8));
      out.close();
      file.whole().get();
      Snapshot last;
      do {
        last = shaped(file);
      } while (last.total() < 3);
      assertEquals(Set.of("all 3", "all;a 3", "all;a;c 3", "all;a;c;d 2"), drawn(last.graph()));
      assertEquals(c, last.graph().node()[2], "nodes keep their numbers");
    }
  }

  @Test
  void fold_ofMoreNodesThanThereIsRoomFor_saysSo() {
    StackNames names = new StackNames();
    StackTree tree = new StackTree();
    byte[] text = "a;b;c;d 1\n".getBytes(UTF_8);
    new StackLines(names, tree, StackTree.NOW, true).fold(text, 0, text.length);
    Shape shape = Shape.of(new Shape.Reverse());
    StackFold fits = new StackFold(tree, names, shape, 5);
    assertTrue(fits.slice(Long.MAX_VALUE));
    assertFalse(fits.overflows());
    StackFold fold = new StackFold(tree, names, shape, 4);
    assertTrue(fold.slice(Long.MAX_VALUE));
    assertTrue(fold.overflows());
  }

  @Test
  void page_topOfAFile_hasSelfAndTotal() throws Exception {
    try (StackFile file = open(STACKS + "flat 4\n", COMM)) {
      TopReport report = top(file, TopQuery.Order.TOTAL, 9, null);
      assertEquals(
          "main 0 10, run 5 7, lex 5 5, parse 0 5, flat 4 4, idle 1 1",
          report.rows().stream()
              .map(r -> r.function().name() + " " + r.self() + " " + r.total())
              .collect(Collectors.joining(", ")));
      assertEquals(15, report.total());
      assertEquals(0, Arrays.stream(report.rows().get(0).totalByState()).sum());
      file.shape(Shape.of(new Shape.Comms(Set.of("b"), false)));
      shaped(file);
      report = top(file, TopQuery.Order.TOTAL, 9, null);
      assertEquals("main", report.rows().get(0).function().name());
      assertEquals(6, report.total());
    }
  }

  @Test
  void page_topOfTwoFiles_hasBothAndTheirDifference() throws Exception {
    try (StackFile file = compared("a;x 6\na;y 4\n", "a;x 6\na;z 14\n", COMM)) {
      TopReport report = top(file, TopQuery.Order.SELF_CHANGE, 9, null);
      assertEquals(
          "z 0 14, y 8 0, x 12 6",
          report.rows().stream()
              .map(
                  r ->
                      r.function().name()
                          + " "
                          + Math.round(20.0 * r.before().self() / report.total())
                          + " "
                          + Math.round(20.0 * r.self() / report.total()))
              .collect(Collectors.joining(", ")));
      assertTrue(report.rows().get(1).isGone());
      assertEquals(-0.5, report.rows().get(2).before().totalChange());
    }
  }

  @Test
  void page_rowsUpToAFunction_areAsManyAsItTakes() throws Exception {
    try (StackFile file = open(STACKS + "flat 4\n", COMM)) {
      assertEquals(3, top(file, TopQuery.Order.TOTAL, 2, function("lex")).rows().size());
      assertEquals(2, top(file, TopQuery.Order.TOTAL, 2, function("main")).rows().size());
      assertEquals(2, top(file, TopQuery.Order.TOTAL, 2, function("no")).rows().size());
    }
  }

  @Test
  void page_topOfAHundredThousandFrames_isThere() throws Exception {
    StringBuilder line = new StringBuilder("x");
    for (int i = 1; i < 100_000; i++) {
      line.append(";f").append(i % 60_000);
    }
    try (StackFile file = open(line + " 1\n", COMM)) {
      TopReport report = top(file, TopQuery.Order.SELF, 1, null);
      assertEquals(60_000, report.functions());
      assertEquals("f39999", report.rows().get(0).function().name());
      assertEquals(1, report.rows().get(0).total());
    }
  }

  @Test
  void page_sandwich_hasCallersAndCalleesWithinTheShape() throws Exception {
    try (StackFile file = open(STACKS, COMM)) {
      Sandwich run = sandwich(file, function("run"));
      assertEquals(7, run.total());
      assertEquals(5, run.self());
      assertEquals(Set.of("all 7", "all;run 7", "all;run;main 7"), drawn(run.callers()));
      assertEquals(
          Set.of("all 7", "all;run 7", "all;run;run 5", "all;run;parse 2", "all;run;parse;lex 2"),
          drawn(run.callees()));
      assertEquals("run", run.selection().path()[1]);
      file.shape(Shape.of(new Shape.Comms(Set.of("b"), true), new Shape.Reverse()));
      assertEquals(2, sandwich(file, function("run")).total());
      assertEquals(5, sandwich(file, function("lex")).total());
    }
  }

  /** Any shape, beside the same done to each line by itself; both numbers. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void shape_anyStepsAndStacks_isTheNaiveSum(long seed) throws Exception {
    Random random = new Random(seed);
    List<Function> functions = new ArrayList<>();
    Map<Function, String> written = new HashMap<>();
    for (int i = 0; i < 12; i++) {
      String name = "f" + i % 5;
      String module = "m" + i % 3;
      Function f =
          switch (i % 4) {
            case 0 -> new Function(NodeKind.USER, "", name);
            case 1 -> new Function(NodeKind.KERNEL, "[kernel]", name);
            case 2 -> new Function(NodeKind.USER, module, module + "`" + name);
            default -> new Function(NodeKind.JIT, module, name + " [" + module + "]");
          };
      functions.add(f);
      written.put(
          f,
          f.name()
              + (f.kind() == NodeKind.KERNEL ? "_[k]" : f.kind() == NodeKind.JIT ? "_[j]" : ""));
    }
    List<List<Function>> stacks = new ArrayList<>();
    List<long[]> values = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    List<Function> last = List.of();
    for (int i = 0; i < 400; i++) {
      List<Function> stack = new ArrayList<>(last.subList(0, random.nextInt(last.size() + 1)));
      if (stack.isEmpty()) {
        stack.add(new Function(NodeKind.PROCESS, "", "p" + random.nextInt(3)));
      }
      for (int more = random.nextInt(5); more > 0; more--) {
        stack.add(functions.get(random.nextInt(functions.size())));
      }
      long[] value = {random.nextInt(3), random.nextInt(9)};
      text.append(
              stack.stream()
                  .map(f -> f.kind() == NodeKind.PROCESS ? f.name() : written.get(f))
                  .collect(Collectors.joining(";")))
          .append(" " + value[0] + " " + value[1] + "\n");
      stacks.add(stack);
      values.add(value);
      last = stack;
    }
    try (StackFile file = open(text.toString(), COMM)) {
      for (int round = 0; round < 150; round++) {
        Shape shape = NaiveShape.random(random, functions, "f[12]");
        boolean grouped = random.nextInt(3) > 0;
        shape = grouped ? shape : shape.plus(new Shape.Group(RootOrder.NONE));
        Shape.Comms comms =
            random.nextBoolean() ? null : new Shape.Comms(Set.of("p1"), random.nextBoolean());
        shape = comms == null ? shape : shape.plus(comms);
        Map<String, String> expected = new TreeMap<>();
        Map<String, long[]> sums = new TreeMap<>();
        for (int i = 0; i < stacks.size(); i++) {
          List<Function> stack = stacks.get(i);
          List<Function> path = NaiveShape.shape(shape, stack.subList(1, stack.size()));
          String outermost = stack.get(0).name();
          if (path == null || comms != null && comms.comms().contains(outermost) == comms.out()) {
            continue;
          }
          String joined =
              (grouped ? outermost + ";" : "")
                  + path.stream().map(Function::name).collect(Collectors.joining(";"));
          // The same names may be of several kinds, which are nodes of their own.
          long[] sum = sums.computeIfAbsent(joined, j -> new long[2]);
          sum[0] += values.get(i)[0];
          sum[1] += values.get(i)[1];
        }
        sums.forEach((path, sum) -> put(expected, path, sum));
        file.shape(shape);
        assertEquals(weights(sums), drawnSums(shaped(file)), shape.toString());
        Map<String, long[]> found = new TreeMap<>();
        for (FoldedStack s : file.held(0).get()) {
          String joined =
              String.join(";", s.names()) + (grouped && s.names().length == 1 ? ";" : "");
          long[] sum = found.computeIfAbsent(joined, j -> new long[2]);
          sum[0] += s.before();
          sum[1] += s.value();
        }
        Map<String, String> actual = new TreeMap<>();
        found.forEach((path, sum) -> put(actual, path, sum));
        assertEquals(expected, actual, shape.toString());
      }
    }
  }

  /** What is now on each path and below it. */
  private static Map<String, Long> weights(Map<String, long[]> ends) {
    Map<String, Long> weights = new TreeMap<>();
    ends.forEach(
        (path, sum) -> {
          for (int end = path.length(); end > 0; end = path.lastIndexOf(';', end - 1)) {
            // The outermost frame of a stack without others has a ; behind it.
            boolean bare = path.charAt(end - 1) == ';';
            if (!bare && sum[1] > 0) {
              weights.merge(path.substring(0, end), sum[1], Long::sum);
            }
          }
        });
    return weights;
  }

  private static Map<String, Long> drawnSums(Snapshot of) {
    GraphSlice slice = of.graph();
    Map<String, Long> sums = new TreeMap<>();
    for (int i = 1; i < slice.size(); i++) {
      StringBuilder path = new StringBuilder(slice.name()[i]);
      for (int p = slice.parent()[i]; p > 0; p = slice.parent()[p]) {
        path.insert(0, slice.name()[p] + ";");
      }
      if (slice.weight()[i] > 0) {
        sums.merge(path.toString(), slice.weight()[i] / of.measure().parts(), Long::sum);
      }
    }
    return sums;
  }

  private static void put(Map<String, String> to, String path, long[] sum) {
    if (sum[0] + sum[1] > 0) {
      to.put(path.isEmpty() ? "[no stack]" : path, sum[0] + " " + sum[1]);
    }
  }
}
