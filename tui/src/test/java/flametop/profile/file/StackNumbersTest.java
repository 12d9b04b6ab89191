package flametop.profile.file;

import static flametop.profile.file.StackFile.Choice.NONE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.HeldStacks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The numbers of stacks: two of a line, fractions, and more than can be counted. */
class StackNumbersTest extends StackFileFixture {
  @Test
  void snapshot_ofTwoNumbers_comparesThemByTheirTotals() throws Exception {
    Snapshot snapshot = read("a;b 10 30\na;c 10 0\na;d 0 10\n");
    assertEquals(
        List.of("all 40 → 40", " a 40 → 40", "  b 20 → 30", "  c 20 → 0", "  d 0 → 10"),
        drawn(snapshot));
  }

  @Test
  void snapshot_ofOneNumberAfterANameThatEndsInOne_comparesNothing() throws Exception {
    Snapshot snapshot = read("worker 3 10\nmain 5\n");
    assertNull(snapshot.graph().baseline());
    assertEquals(List.of("all 15", " main 5", " worker 3 10"), drawn(snapshot));
  }

  @Test
  void compared_ofTwoFiles_hasBoth() throws Exception {
    try (StackFile file = compared("a;b 1\na;gone 3\n", "a;b 4\na;new 4\n", NONE)) {
      assertEquals(
          List.of("all 8 → 8", " a 8 → 8", "  b 2 → 4", "  gone 6 → 0", "  new 0 → 4"),
          drawn(read(file)));
      assertEquals(new StackFile.Use(true, true, true, 4, 8), file.use().get());
      List<String> stacks = new ArrayList<>();
      file.held(0)
          .get()
          .forEach(
              s -> stacks.add(String.join(";", s.names()) + " " + s.before() + " " + s.value()));
      assertEquals(List.of("a;b 1 4", "a;gone 3 0", "a;new 0 4"), stacks);
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
  void compared_ofManyVanishedFunctions_hasEach() throws Exception {
    StringBuilder gone = new StringBuilder();
    for (int i = 0; i < 6_000; i++) {
      gone.append("a;gone").append(i).append(" 1\n");
    }
    try (StackFile file = compared(gone, "a;new 5\na;same 5\n", NONE)) {
      TopReport report = top(file, TopQuery.Order.TOTAL, 9_000, null);
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
    try (StackFile file =
        compared("a;b 9007199254740993\n", "a;b 123456789012345678\na;c 0.5\n", NONE)) {
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
      results.add(
          result
              + lines.whyNone()
              + lines.tally().bad()
              + tree.hasBaseline()
              + lines.tally().stacks());
    }
    assertEquals(1, Set.copyOf(results).size(), results::toString);
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
        String[] stack = Arrays.copyOf(last, kept + random.nextInt(4));
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
          Arrays.fill(bytes, (byte) 'z');
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
