package flametop.view.layout;

import java.util.Arrays;

/**
 * The edges of a picture that follows another one.
 *
 * <p>In a live graph every edge would move by an eighth or so with every picture. Such moves are
 * chance of the samples, unrest to the eye, and most of the bytes of a picture. So an edge stays
 * where it was in the picture before, as long as that place is within a hundredth of the width (a
 * cell at least) of where the edge belongs. Errors do not add up: each edge is compared with its
 * own place, not with its neighbours'. And a frame that is about a cell wide has a box if it had
 * one.
 */
final class SteadyEdges {
  private final Geometry boxes;
  private final Geometry before;
  private final int slack;

  /** The right edges where they belong. */
  private final int[] exactRight;

  /** The index that each box had before; -1 for a new box. */
  private final int[] was;

  /** The least width of each box: a cell, or the widths of its children. */
  private final int[] least;

  SteadyEdges(Geometry exact, Geometry before) {
    this.boxes = exact;
    this.before = before;
    slack = Geometry.slack(exact.columns());
    exactRight = exact.right.clone();
    was = new int[exact.size()];
    Arrays.fill(was, -1);
    was[exact.zoomLevel()] = before.zoomLevel();
    least = new int[exact.size()];
    for (int box = exact.size() - 1; box > exact.zoomLevel(); box--) {
      least[box] =
          Math.max(least[box], Math.min(Geometry.CELL, exact.right(box) - exact.left(box)));
      least[exact.parent(box)] += least[box];
    }
  }

  /** Moves edges of the exact picture, which nobody else has yet. */
  Geometry settled() {
    for (int from = boxes.zoomLevel() + 1, end; from < boxes.size(); from = end) {
      for (end = from + 1; end < boxes.size() && boxes.parent(end) == boxes.parent(from); ) {
        end++;
      }
      match(from, end);
      settle(from, end);
    }
    for (int box = 0; box < boxes.size(); box++) {
      boxes.queued[box] = queuedFrom(box);
    }
    return boxes;
  }

  /** Where the queued part of a box begins: as far from the right edge as before, or as it is. */
  private int queuedFrom(int box) {
    int width = boxes.right[box] - boxes.left[box];
    int part = exactRight[box] - boxes.queuedFrom(box);
    int old = was[box];
    int last = old < 0 ? -1 : before.right(old) - before.queuedFrom(old);
    boolean stays = last >= 0 && Math.abs(last - part) <= slack;
    return boxes.right[box] - Math.min(width, stays ? last : part);
  }

  /** Finds siblings in the picture before: boxes of the same nodes, runs in the place of runs. */
  private void match(int from, int end) {
    int old = was[boxes.parent(from)];
    int at = old < 0 ? before.size() : before.firstOn(old);
    for (int box = from; box < end; box++) {
      for (int i = at; i < before.size() && before.parent(i) == old; i++) {
        boolean same =
            boxes.isRun(box)
                ? i == at && before.isRun(i)
                : !before.isRun(i) && before.number(i) == boxes.number(box);
        if (same) {
          was[box] = i;
          at = i + 1;
          break;
        }
      }
    }
  }

  /**
   * Places siblings: none gets less than its least width, and a last sibling that ended where the
   * parent ends still does.
   */
  private void settle(int from, int end) {
    int up = boxes.parent(from);
    int others = least[up];
    int x = boxes.left[up];
    for (int box = from; box < end; box++) {
      others -= least[box];
      int to = exactRight[box];
      if (was[box] >= 0 && Math.abs(before.right(was[box]) - to) <= slack) {
        to = before.right(was[box]);
      }
      if (box == end - 1 && exactRight[box] == exactRight[up]) {
        to = boxes.right[up];
      }
      boxes.left[box] = x;
      boxes.right[box] = Math.max(x + least[box], Math.min(to, boxes.right[up] - others));
      x = boxes.right[box];
    }
  }
}
