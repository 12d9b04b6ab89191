package flametop.view.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Siblings;
import flametop.profile.answer.StateSet;
import flametop.view.screen.Tree;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GeometryTest {
  private static GraphSlice slice(Tree tree, long zoom, int columns) {
    return tree.slice(new GraphQuery(StateSet.BUSY, zoom, 0, columns, 300, null));
  }

  private static Geometry boxes(Tree tree, int columns) {
    return Geometry.of(slice(tree, 0, columns), 0, columns, false);
  }

  /** A random tree: some wide, some with hundreds of thin children, some deep. */
  private static Tree random(Random random) {
    Tree tree = new Tree();
    int stacks = 1 + random.nextInt(300);
    int names = 1 + random.nextInt(40);
    for (int i = 0; i < stacks; i++) {
      String[] frames = frames(random, 12, names);
      tree.stack((long) Math.exp(random.nextDouble() * 14), frames);
    }
    return tree;
  }

  private static String[] frames(Random random, int most, int names) {
    String[] frames = new String[1 + random.nextInt(most)];
    for (int f = 0; f < frames.length; f++) {
      frames[f] = "f" + random.nextInt(names);
    }
    return frames;
  }

  /** Adds to it what a picture adds: a little to some stacks, now and then a new one. */
  private static void grow(Tree tree, Random random) {
    for (int i = 0; i < 20; i++) {
      String[] frames = frames(random, 6, 12);
      tree.stack((long) Math.exp(random.nextDouble() * 10), frames);
    }
  }

  private static void check(Geometry g, int columns, boolean wholeCells) {
    GraphSlice slice = g.slice();
    int[] sum = new int[g.size()];
    int[] counted = new int[g.size()];
    for (int box = 0; box < g.size(); box++) {
      assertTrue(
          g.left(box) >= 0 && g.right(box) <= columns * Geometry.CELL, "edges within the width");
      assertTrue(g.right(box) - g.left(box) >= Geometry.CELL, "no box is narrower than a cell");
      if (wholeCells) {
        assertEquals(0, g.left(box) % Geometry.CELL);
        assertEquals(0, g.right(box) % Geometry.CELL);
      }
      int parent = g.parent(box);
      if (parent >= 0) {
        assertTrue(
            g.left(box) >= g.left(parent) && g.right(box) <= g.right(parent),
            "a child is on its parent");
        assertEquals(g.level(parent) + 1, g.level(box));
        sum[parent] += g.right(box) - g.left(box);
        counted[parent] += g.isRun(box) ? g.more(box) : 1;
      }
      if (box > 0 && g.level(box) == g.level(box - 1)) {
        assertTrue(g.left(box) >= g.right(box - 1), "boxes of a level do not overlap");
        if (g.parent(box) == g.parent(box - 1)) {
          boolean runs = g.isRun(box) && g.isRun(box - 1);
          int both = g.right(box) - g.left(box - 1);
          assertTrue(
              !runs
                  || parent == g.levelStart(g.zoomLevel())
                      && both > Math.max(8, columns / 8) * Geometry.CELL - 2 * Geometry.CELL,
              "runs beside each other are one, but for wide ones on the zoomed node");
          assertEquals(g.left(box), g.right(box - 1), "siblings touch");
        }
      }
    }
    for (int box = g.levelStart(g.zoomLevel()); box < g.size(); box++) {
      assertTrue(
          sum[box] <= g.right(box) - g.left(box), "children are not wider than their parent");
      if (!g.isRun(box)) {
        int children = slice.hiddenCount()[g.node(box)];
        for (int i = 0; i < slice.size(); i++) {
          children += slice.parent()[i] == g.node(box) ? Math.max(1, slice.bundled()[i]) : 0;
        }
        assertEquals(children, counted[box], "each child is drawn or counted");
      }
    }
    for (int i = 0; i < slice.size(); i++) {
      int parentBox = slice.parent()[i] < 0 ? -1 : g.boxOf(slice.parent()[i]);
      if (parentBox >= g.levelStart(g.zoomLevel())
          && !g.isRun(parentBox)
          && i != slice.zoomIndex()) {
        assertTrue(g.boxOf(i) >= 0, "a child of a box has a box");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {40, 41, 80, 123, 200})
  void of_randomTrees_boxesAreConsistent(int columns) {
    Random random = new Random(columns);
    for (int round = 0; round < 60; round++) {
      Tree tree = random(random);
      for (boolean wholeCells : new boolean[] {false, true}) {
        GraphSlice slice = slice(tree, 0, columns);
        check(Geometry.of(slice, 0, columns, wholeCells), columns, wholeCells);
        long zoom = random.nextInt(tree.nodes.size());
        GraphSlice zoomed = slice(tree, zoom, columns);
        check(Geometry.of(zoomed, zoomed.zoomIndex(), columns, wholeCells), columns, wholeCells);
      }
    }
  }

  /** Each picture is the one before with some stacks more: edges keep near their places. */
  @ParameterizedTest
  @ValueSource(ints = {40, 80, 123, 200})
  void after_randomTreesThatGrow_boxesAreConsistentAndNearTheirPlaces(int columns) {
    Random random = new Random(columns);
    for (int round = 0; round < 40; round++) {
      Tree tree = random(random);
      for (boolean wholeCells : new boolean[] {false, true}) {
        Geometry before = null;
        for (int picture = 0; picture < 6; picture++) {
          GraphSlice slice = slice(tree, 0, columns);
          Geometry exact = Geometry.of(slice, 0, columns, wholeCells);
          Geometry kept =
              before == null ? exact : Geometry.after(before, slice, 0, columns, wholeCells);
          check(kept, columns, wholeCells);
          for (int box = 0; box < kept.size(); box++) {
            int there = kept.isRun(box) ? -1 : exact.boxOf(kept.node(box));
            if (there >= 0 && !exact.isRun(there) && exact.right(there) - exact.left(there) > 160) {
              // What thin frames beside it take or give comes on top.
              int off = Math.abs(exact.right(there) - kept.right(box));
              assertTrue(off <= 2 * Geometry.slack(columns), "off its place by " + off);
            }
          }
          before = kept;
          grow(tree, random);
        }
      }
    }
  }

  @Test
  void after_aLittleChange_nothingMovesAndAGreatOneMovesToItsPlace() {
    Tree tree = new Tree().stack(5000, "a", "x").stack(5000, "b");
    Geometry first = boxes(tree, 80);
    tree.stack(200, "b");
    assertEquals(320, first.right(1));
    assertEquals(314, boxes(tree, 80).right(1));
    Geometry kept = Geometry.after(first, slice(tree, 0, 80), 0, 80, false);
    assertEquals(320, kept.right(1));
    assertEquals(320, kept.left(2));
    assertEquals(640, kept.right(2));
    assertEquals(320, kept.right(3), "a child that fills its parent still does");
    tree.stack(5000, "b");
    assertEquals(
        boxes(tree, 80).right(1), Geometry.after(kept, slice(tree, 0, 80), 0, 80, false).right(1));
  }

  @Test
  void after_aFrameAboutACellWide_keepsItsBox() {
    Tree tree = new Tree().stack(78_000, "a").stack(1_020, "b").stack(1_000, "c");
    Geometry first = boxes(tree, 80);
    assertEquals(0, first.more(2) + first.more(3));
    tree.stack(12_000, "a");
    GraphSlice slice = slice(tree, 0, 80);
    assertEquals(2, Geometry.of(slice, 0, 80, false).more(2));
    Geometry kept = Geometry.after(first, slice, 0, 80, false);
    assertEquals(4, kept.size());
    assertEquals(0, kept.more(2) + kept.more(3));
  }

  @Test
  void after_anotherZoomOrWidth_isTheExactOne() {
    Tree tree = new Tree().stack(5000, "a", "x").stack(5000, "b");
    Geometry before = boxes(tree, 80);
    tree.stack(100, "b");
    GraphSlice slice = slice(tree, 0, 81);
    assertEquals(
        Geometry.of(slice, 0, 81, false).right(1),
        Geometry.after(before, slice, 0, 81, false).right(1));
    GraphSlice zoomed = slice(tree, tree.find("a").id, 80);
    int at = zoomed.zoomIndex();
    assertEquals(
        Geometry.of(zoomed, at, 80, false).right(1),
        Geometry.after(before, zoomed, at, 80, false).right(1));
  }

  @Test
  void of_sameSliceTwice_sameBoxes() {
    Tree tree = random(new Random(7));
    Geometry a = boxes(tree, 100);
    Geometry b = boxes(tree, 100);
    assertEquals(a.size(), b.size());
    for (int i = 0; i < a.size(); i++) {
      assertEquals(a.left(i), b.left(i));
      assertEquals(a.right(i), b.right(i));
      assertEquals(a.node(i), b.node(i));
    }
  }

  @Test
  void of_childrenThatFillTheirParent_widthsAddUpToIt() {
    Tree tree = new Tree().stack(1000, "a").stack(1000, "b").stack(1000, "c");
    Geometry g = boxes(tree, 40);
    int[] widths = new int[3];
    for (int i = 0; i < 3; i++) {
      widths[i] = g.right(i + 1) - g.left(i + 1);
    }
    assertEquals(320, Arrays.stream(widths).sum());
    assertEquals(107, widths[0]);
    assertEquals(106, widths[2]);
  }

  @Test
  void of_ownTime_staysEmptyAtTheRight() {
    Tree tree = new Tree().stack(500, "a", "b").stack(500, "a");
    Geometry g = boxes(tree, 40);
    assertEquals(160, g.right(2));
  }

  @Test
  void of_thinFramesBetweenWideOnes_areOneRunWithTheirNumber() {
    Tree tree =
        new Tree()
            .stack(500_000, "a")
            .stack(2, "b1")
            .stack(3, "b2")
            .stack(4, "b3")
            .stack(500_000, "c");
    Geometry g = boxes(tree, 80);
    assertEquals(4, g.size());
    assertEquals(3, g.more(2) + g.more(3) + g.more(1));
  }

  @Test
  void of_openedRun_thinFramesFillTheWidth() {
    Tree tree =
        new Tree().stack(500_000, "a").stack(1000, "b1").stack(1000, "b2").stack(500_000, "c");
    Siblings opened = new Siblings(tree.find("b1").id, tree.find("b2").id);
    GraphSlice slice =
        tree.slice(new GraphQuery(StateSet.BUSY, 0, 0, 80, 300, null, false, opened, false));
    Geometry g = Geometry.of(slice, 0, 80, false);
    assertEquals(3, g.size());
    assertEquals(0, g.left(1));
    assertEquals(320, g.right(1));
    assertEquals(640, g.right(2));
    assertEquals("b2", slice.name()[g.node(2)]);
  }

  @Test
  void of_childrenHeavierThanTheirParent_stayOnIt() {
    Tree tree = new Tree().stack(100, "a", "b").stack(100, "a", "c");
    tree.find("a").weight /= 3;
    Geometry g = boxes(tree, 80);
    check(g, 80, false);
  }

  @Test
  void of_emptiedGraph_hasTheRootOnly() {
    Geometry g = Geometry.of(slice(new Tree(), 0, 80), 0, 80, false);
    assertEquals(1, g.size());
    assertEquals(0, g.zoomLevel());
    assertEquals(-1, g.child(0));
  }

  @Test
  void queuedFrom_partOfABox_isAtItsRightEnd() {
    Tree tree = new Tree().stack(1000, "a", "x").queued(3000, "a", "y").stack(4000, "b");
    Geometry g = boxes(tree, 80);
    int a = g.boxOfNode(tree.find("a").id);
    assertEquals(40 * Geometry.CELL, g.right(a));
    assertEquals(10 * Geometry.CELL, g.queuedFrom(a));
    int y = g.boxOfNode(tree.find("a", "y").id);
    assertEquals(g.left(y), g.queuedFrom(y));
    int b = g.boxOfNode(tree.find("b").id);
    assertEquals(g.right(b), g.queuedFrom(b));
  }

  @Test
  void after_queuedPartThatMovedLittle_stays() {
    Tree tree = new Tree().stack(4000, "a").queued(4000, "a");
    Geometry first = boxes(tree, 100);
    assertEquals(50 * Geometry.CELL, first.queuedFrom(1));
    tree.queued(60, "a");
    Geometry second = Geometry.after(first, slice(tree, 0, 100), 0, 100, false);
    assertEquals(50 * Geometry.CELL, second.queuedFrom(1));
    tree.queued(8000, "a");
    Geometry third = Geometry.after(second, slice(tree, 0, 100), 0, 100, false);
    assertTrue(third.queuedFrom(1) < 30 * Geometry.CELL);
  }
}
