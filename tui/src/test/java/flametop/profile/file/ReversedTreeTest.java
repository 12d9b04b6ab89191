package flametop.profile.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.TreeReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Stacks turned round, opened in any order and in any pieces, beside sums over all of them. */
class ReversedTreeTest {
  private static final int STACKS = 30_000;

  private final StackNames names = new StackNames();
  private final StackTree tree = byComm();

  /** The same without the outermost frames. */
  private final StackFold inner =
      new StackFold(tree, names, Shape.of(new Shape.Group(RootOrder.NONE)), Integer.MAX_VALUE);

  private final StackLines lines = new StackLines(names, tree, StackTree.NOW, true);

  /** {@code {before, now}} of each path, its frames with a {@code ;} before each. */
  private final Map<String, long[]> sums = new TreeMap<>();

  private final Map<String, long[]> ends = new TreeMap<>();

  private static StackTree byComm() {
    StackTree tree = new StackTree();
    tree.ask(true);
    return tree;
  }

  private void add(Random random, int stacks, boolean grouped) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < stacks; i++) {
      List<String> frames = new ArrayList<>();
      for (int depth = 1 + random.nextInt(8); depth > 0; depth--) {
        frames.add("f" + random.nextInt(7));
      }
      // One of both at least: without, a stack has no nodes.
      long[] value = {random.nextInt(3), 1 + random.nextInt(9)};
      text.append(String.join(";", frames)).append(" " + value[0] + " " + value[1] + "\n");
      StringBuilder path = new StringBuilder();
      sum(sums, path, value);
      if (grouped) {
        sum(sums, path.append(";").append(frames.get(0)), value);
      }
      for (int f = frames.size() - 1; f > 0; f--) {
        sum(sums, path.append(";").append(frames.get(f)), value);
      }
      sum(ends, path, value);
    }
    byte[] bytes = text.toString().getBytes(UTF_8);
    lines.fold(bytes, 0, bytes.length);
    tree.sumUp();
    inner.begin();
    assertTrue(inner.slice(Long.MAX_VALUE));
  }

  private ReversedTree reversed(boolean grouped, int most, ReversedTree older) {
    return new ReversedTree(grouped ? tree : inner.tree(), names, grouped, most, older);
  }

  private static void sum(Map<String, long[]> into, CharSequence path, long[] value) {
    long[] sum = into.computeIfAbsent(path.toString(), p -> new long[2]);
    sum[0] += value[0];
    sum[1] += value[1];
  }

  private String path(ReversedTree of, int node) {
    StringBuilder path = new StringBuilder();
    for (int n = node; n > 0; n = of.parent(n)) {
      path.insert(0, ";" + names.name(of.function(n)));
    }
    return path.toString();
  }

  /** Each step is as short as it can be. */
  private ReversedTree gathered(boolean grouped, ReversedTree older) {
    ReversedTree reversed = reversed(grouped, Integer.MAX_VALUE, older);
    int steps = 1;
    while (!reversed.gather(System.nanoTime() - 1)) {
      assertTrue(reversed.gathered() < 1);
      steps++;
    }
    assertTrue(steps > 3);
    return reversed;
  }

  /** All that is there is as it has to be; what is not opened has its sum, too. */
  private void assertSums(ReversedTree reversed, boolean all) {
    int found = 0;
    for (int node = 0; node < reversed.nodes(); node++) {
      String path = path(reversed, node);
      long[] sum = sums.get(path);
      boolean reached = node == 0 || reversed.isOpened(reversed.parent(node));
      if (!reached) {
        continue;
      }
      found++;
      assertEquals(sum[1] * tree.times(), reversed.weight(node, 0), path);
      assertEquals(
          sum[0] * tree.scale(), (double) reversed.baseline(node, 0), 1e-9 * tree.weight(0, 0));
      long[] end = ends.getOrDefault(path, new long[2]);
      assertEquals(end[1] * tree.times(), reversed.self(node, 0), path);
      for (int c = reversed.firstChild(node); c >= 0; c = reversed.sibling(c)) {
        assertEquals(node, reversed.parent(c));
      }
    }
    if (all) {
      assertEquals(sums.size(), found);
    }
  }

  @ParameterizedTest
  @CsvSource({"1,true", "2,false", "3,true", "4,false"})
  void open_inAnyOrderAndPieces_hasTheSumsOfAllStacks(long seed, boolean grouped) {
    Random random = new Random(seed);
    add(random, STACKS, grouped);
    ReversedTree reversed = gathered(grouped, null);
    assertSums(reversed, false);
    for (int round = 0; round < 300; round++) {
      if (random.nextInt(3) == 0) {
        reversed.refill();
      }
      if (random.nextInt(20) == 0) {
        reversed.look();
      }
      reversed.open(random.nextInt(reversed.nodes()), random.nextInt(50), 1 + random.nextInt(3));
      if (reversed.isDue() && random.nextBoolean()) {
        reversed.work(System.nanoTime() - 1);
      }
      assertTrue(reversed.share() >= 0 && reversed.share() <= 1);
    }
    assertSums(reversed, false);
    // Later there are more, and nodes keep their numbers.
    Map<String, Integer> numbers = new TreeMap<>();
    for (int node = 0; node < reversed.nodes(); node++) {
      numbers.put(path(reversed, node), node);
    }
    add(random, STACKS, grouped);
    ReversedTree next = gathered(grouped, reversed);
    assertSums(next, false);
    int deep = numbers.size() - 1;
    next.open(deep, 0, 1);
    while (next.isDue()) {
      next.work(System.nanoTime() - 1);
    }
    next.open(0, 0, 100);
    for (int node = 0; node < next.nodes(); node++) {
      next.open(node, 0, 100);
    }
    while (next.isDue()) {
      next.work(System.nanoTime() - 1);
    }
    assertSums(next, true);
    numbers.forEach((path, node) -> assertEquals(path, path(next, node)));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void held_ofANode_hasTheStacksBelowIt(boolean grouped) {
    add(new Random(5), STACKS, grouped);
    ReversedTree reversed = gathered(grouped, null);
    reversed.refill();
    int node = reversed.firstChild(0);
    String top = path(reversed, node);
    long weight = 0;
    Map<String, long[]> found = new TreeMap<>();
    for (FoldedStack stack : reversed.held(node, names, Shape.PLAIN, List.of())) {
      StringBuilder path = new StringBuilder();
      for (String name : stack.names()) {
        path.append(";").append(name);
      }
      assertFalse(found.containsKey(path.toString()), "each once");
      sum(found, path, new long[] {stack.before(), stack.value()});
      assertTrue((path + ";").startsWith(top + ";"));
      assertEquals(ends.get(path.toString())[1], stack.value());
      assertEquals(ends.get(path.toString())[0], stack.before());
      weight += stack.value();
    }
    assertEquals(sums.get(top)[1], weight);
  }

  @ParameterizedTest
  @CsvSource({"f3,true", "f3,false", "^f[12]$,true", "none,true", ".,false"})
  void search_ofWhatIsNotOpened_hasAllThatMatches(String regex, boolean grouped) {
    add(new Random(6), 400, grouped);
    ReversedTree reversed = reversed(grouped, Integer.MAX_VALUE, null);
    assertTrue(reversed.gather(Long.MAX_VALUE));
    ReversedFinds finds = new ReversedFinds(reversed, names);
    TreeReader reader = new TreeReader(reversed, names, 1);
    Pattern pattern = Pattern.compile(regex);
    reversed.refill();
    Snapshot.Search search = finds.search(pattern, StateSet.ALL, reader);
    long count =
        sums.keySet().stream().filter(p -> !p.isEmpty() && pattern.matcher(last(p)).find()).count();
    long weight = 0;
    for (Map.Entry<String, long[]> end : ends.entrySet()) {
      boolean matches = false;
      for (String frame : end.getKey().split(";")) {
        matches |= !frame.isEmpty() && pattern.matcher(frame).find();
      }
      weight += matches ? end.getValue()[1] : 0;
    }
    assertEquals(count, search.count());
    assertEquals(weight * tree.times(), search.weight());
    assertFalse(search.more());
  }

  private static String last(String path) {
    return path.substring(path.lastIndexOf(';') + 1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void search_ofVeryMany_saysThatThereAreMore(boolean grouped) {
    add(new Random(7), STACKS, grouped);
    ReversedTree reversed = gathered(grouped, null);
    ReversedFinds finds = new ReversedFinds(reversed, names);
    TreeReader reader = new TreeReader(reversed, names, 1);
    reversed.refill();
    Snapshot.Search search = finds.search(Pattern.compile("f"), StateSet.ALL, reader);
    while (reversed.isDue()) {
      reversed.work(Long.MAX_VALUE);
      reversed.refill();
      search = finds.search(Pattern.compile("f"), StateSet.ALL, reader);
    }
    assertTrue(search.more());
    assertEquals(4_096, search.nodes().length);
    assertTrue(search.count() >= 4_096);
    long framed = sums.get("")[1] - ends.getOrDefault("", new long[2])[1];
    assertEquals(framed * tree.times(), search.weight());
    assertTrue(reversed.nodes() < sums.size() / 2, "the rest is not made");
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 100})
  void open_ofMoreThanThereIsRoomFor_stopsAndSaysSo(int most) {
    add(new Random(8), 2_000, true);
    ReversedTree reversed = reversed(true, most, null);
    assertTrue(reversed.gather(Long.MAX_VALUE));
    for (int node = 0; node < reversed.nodes(); node++) {
      reversed.refill();
      reversed.open(node, 0, 100);
      while (reversed.isDue()) {
        reversed.work(Long.MAX_VALUE);
      }
    }
    assertTrue(reversed.overflows());
    assertSums(reversed, false);
  }
}
