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
  private final Geometry exact;
  private final Geometry before;
  private final int slack;
  private final int[] left;
  private final int[] right;
  private final int[] queued;

  /** The index that each box had before; -1 for a new box. */
  private final int[] was;

  /** The least width of each box: a cell, or the widths of its children. */
  private final int[] least;

  SteadyEdges(Geometry exact, Geometry before) {
    this.exact = exact;
    this.before = before;
    slack = Geometry.slack(exact.columns());
    left = new int[exact.size()];
    right = new int[exact.size()];
    queued = new int[exact.size()];
    for (int box = 0; box < exact.size(); box++) {
      left[box] = exact.left(box);
      right[box] = exact.right(box);
    }
    was = new int[exact.size()];
    Arrays.fill(was, -1);
    was[exact.zoomLevel()] = before.zoomLevel();
    least = new int[exact.size()];
    for (int box = exact.size() - 1; box > exact.zoomLevel(); box--) {
      least[box] = Math.max(least[box], Math.min(Geometry.CELL, right[box] - left[box]));
      least[exact.parent(box)] += least[box];
    }
  }

  Geometry settled() {
    for (int from = exact.zoomLevel() + 1, end; from < exact.size(); from = end) {
      for (end = from + 1; end < exact.size() && exact.parent(end) == exact.parent(from); ) {
        end++;
      }
      match(from, end);
      settle(from, end);
    }
    for (int box = 0; box < exact.size(); box++) {
      queued[box] = queuedFrom(box);
    }
    return new Geometry(exact, left, right, queued);
  }

  /** Where the queued part of a box begins: as far from the right edge as before, or as it is. */
  private int queuedFrom(int box) {
    int width = right[box] - left[box];
    int part = exact.right(box) - exact.queuedFrom(box);
    int old = was[box];
    int last = old < 0 ? -1 : before.right(old) - before.queuedFrom(old);
    boolean stays = last >= 0 && Math.abs(last - part) <= slack;
    return right[box] - Math.min(width, stays ? last : part);
  }

  /** Finds siblings in the picture before: boxes of the same nodes, runs in the place of runs. */
  private void match(int from, int end) {
    int old = was[exact.parent(from)];
    int at = old < 0 ? before.size() : before.firstOn(old);
    for (int box = from; box < end; box++) {
      for (int i = at; i < before.size() && before.parent(i) == old; i++) {
        boolean same =
            exact.isRun(box)
                ? i == at && before.isRun(i)
                : !before.isRun(i) && before.number(i) == exact.number(box);
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
    int up = exact.parent(from);
    int others = least[up];
    int x = left[up];
    for (int box = from; box < end; box++) {
      others -= least[box];
      int to = exact.right(box);
      if (was[box] >= 0 && Math.abs(before.right(was[box]) - to) <= slack) {
        to = before.right(was[box]);
      }
      if (box == end - 1 && exact.right(box) == exact.right(up)) {
        to = right[up];
      }
      left[box] = x;
      right[box] = Math.max(x + least[box], Math.min(to, right[up] - others));
      x = right[box];
    }
  }
}
