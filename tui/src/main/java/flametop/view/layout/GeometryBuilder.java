package flametop.view.layout;

import flametop.array.IntColumn;
import flametop.profile.answer.GraphSlice;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Builds the boxes of one picture.
 *
 * <p>A parent's eighths are given to its children, and to itself for the time that is in no child,
 * by largest remainder, so that together they are the parent's to the eighth. Children keep the
 * slice's order (by name) and stand at the left; the parent's own part stays empty at the right.
 *
 * <p>A child under one cell has no box of its own. Such neighbours become one box, a run, which
 * says how many they are; what the slice summed up ({@code hiddenCount}) joins the last run. A run
 * has a cell at least: it takes what it lacks from the empty part, then from the widest sibling,
 * then it swallows its smallest neighbour.
 *
 * <p>On the zoomed node a run is a part of the width at most: whoever opens one run after the other
 * sees fewer frames each time, and single ones at last.
 */
final class GeometryBuilder {
  /** A run on the zoomed node has this part of the width at most, but so many cells it may have. */
  private static final int RUNS = 8;

  private static final int RUN_CELLS = 8;

  final GraphSlice slice;
  final int columns;
  final int unit;
  final long @Nullable [] drawn;
  final int[] firstChild;
  final int[] nextSibling;
  final int[] boxOf;
  final IntColumn node = new IntColumn();
  final IntColumn parent = new IntColumn();
  final IntColumn level = new IntColumn();
  final IntColumn left = new IntColumn();
  final IntColumn right = new IntColumn();
  final IntColumn more = new IntColumn();
  final IntColumn last = new IntColumn();
  int size;
  int zoomLevel;

  // The children of one box while they are laid out: node, count of frames, width.
  int[] partNode = new int[64];
  int[] partCount = new int[64];
  int[] partWidth = new int[64];
  int[] partEnd = new int[64];
  int[] partLast = new int[64];
  double[] rest = new double[64];
  int parts;

  /**
   * @param drawn numbers of the nodes that had a box before, ascending; may be null
   */
  GeometryBuilder(GraphSlice slice, int columns, int unit, long @Nullable [] drawn) {
    this.slice = slice;
    this.drawn = drawn;
    this.columns = columns;
    this.unit = unit;
    int n = slice.size();
    firstChild = new int[n];
    nextSibling = new int[n];
    boxOf = new int[n];
    Arrays.fill(firstChild, -1);
    Arrays.fill(nextSibling, -1);
    Arrays.fill(boxOf, -1);
    for (int i = n - 1; i > 0; i--) {
      int p = slice.parent()[i];
      nextSibling[i] = firstChild[p];
      firstChild[p] = i;
    }
  }

  void build(int zoomIndex) {
    if (slice.size() == 0) {
      return;
    }
    int depth = 0;
    for (int i = zoomIndex; slice.parent()[i] >= 0; i = slice.parent()[i]) {
      depth++;
    }
    int[] chain = new int[depth + 1];
    int at = zoomIndex;
    for (int i = depth; i >= 0; i--) {
      chain[i] = at;
      at = slice.parent()[at];
    }
    for (int i = 0; i <= depth; i++) {
      boxOf[chain[i]] = add(chain[i], i - 1, i, 0, columns * Geometry.CELL);
    }
    zoomLevel = depth;
    for (int box = depth; box < size; box++) {
      if (more.items[box] == 0) {
        children(box);
      }
    }
  }

  private int add(int index, int up, int depth, int from, int to) {
    node.add(index);
    parent.add(up);
    level.add(depth);
    left.add(from);
    right.add(to);
    more.add(0);
    last.add(index);
    return size++;
  }

  private void children(int box) {
    int index = node.items[box];
    int width = (right.items[box] - left.items[box]) / unit;
    share(index, width, slice.opened() && index == slice.zoomIndex());
    if (parts == 0) {
      return;
    }
    int free = width;
    for (int i = 0; i < parts; i++) {
      free -= partWidth[i];
    }
    int most =
        level.items[box] == zoomLevel
            ? Math.max(RUN_CELLS, columns / RUNS) * Geometry.CELL / unit
            : Integer.MAX_VALUE;
    mergeThin(free, Geometry.CELL / unit, most);
    int x = left.items[box];
    int child = firstChild[index];
    for (int i = 0; i < parts; i++) {
      int to = x + partWidth[i] * unit;
      int made = add(partNode[i], box, level.items[box] + 1, x, to);
      more.items[made] = partCount[i];
      last.items[made] = partLast[i];
      // All nodes up to the part's end are in it.
      for (; child >= 0 && child < partEnd[i]; child = nextSibling[child]) {
        boxOf[child] = made;
      }
      x = to;
    }
  }

  /**
   * Shares {@code width} units among the children and the parent's own part.
   *
   * @param fill whether the parent's own part gets nothing
   */
  private void share(int index, int width, boolean fill) {
    parts = 0;
    double sum = 0;
    for (int c = firstChild[index]; c >= 0; c = nextSibling[c]) {
      sum += part(c, slice.bundled()[c], c + 1, slice.extent(c));
    }
    if (slice.hiddenCount()[index] > 0) {
      sum += part(-1, slice.hiddenCount()[index], Integer.MAX_VALUE, slice.hiddenWeight()[index]);
    }
    if (parts == 0) {
      return;
    }
    double whole = fill ? sum : Math.max(sum, (double) slice.extent(index));
    double scale = whole > 0 ? width / whole : 0;
    double own = (whole - sum) * scale;
    int left = width - (int) own;
    double ownRest = own - (int) own;
    for (int i = 0; i < parts; i++) {
      double ideal = rest[i] * scale;
      partWidth[i] = (int) ideal;
      rest[i] = ideal - partWidth[i];
      left -= partWidth[i];
    }
    if (whole <= 0) {
      return;
    }
    serve(left, ownRest);
  }

  /**
   * Gives one more unit to each of the {@code left} largest remainders; among equal ones the first.
   */
  private void serve(int left, double ownRest) {
    if (left <= 0) {
      return;
    }
    double[] sorted = Arrays.copyOf(rest, parts + 1);
    sorted[parts] = ownRest;
    Arrays.sort(sorted);
    double least = left > parts ? 0 : sorted[parts + 1 - left];
    int equal = left;
    for (int i = parts; i >= 0 && sorted[i] > least; i--) {
      equal--;
    }
    for (int i = 0; i < parts; i++) {
      if (rest[i] > least || rest[i] == least && least > 0 && equal-- > 0) {
        partWidth[i]++;
      }
    }
  }

  /** Adds a part that ends before a node; returns its weight. */
  private double part(int first, int count, int end, long weight) {
    if (parts == partNode.length) {
      int grown = parts * 2;
      partNode = Arrays.copyOf(partNode, grown);
      partCount = Arrays.copyOf(partCount, grown);
      partWidth = Arrays.copyOf(partWidth, grown);
      partEnd = Arrays.copyOf(partEnd, grown);
      partLast = Arrays.copyOf(partLast, grown);
      rest = Arrays.copyOf(rest, grown);
    }
    partNode[parts] = first;
    partCount[parts] = count;
    partEnd[parts] = end;
    partLast[parts] = first;
    rest[parts++] = weight;
    return weight;
  }

  /** Joins thin neighbours to runs up to a width, then gives each part a cell at least. */
  private void mergeThin(int free, int cell, int most) {
    int n = 0;
    for (int i = 0; i < parts; i++) {
      boolean thin = partCount[i] > 0 || partWidth[i] < leastOwn(partNode[i], cell);
      if (thin
          && n > 0
          && partCount[n - 1] > 0
          && (partWidth[n - 1] < cell || partWidth[n - 1] + partWidth[i] <= most)) {
        join(n - 1, i);
      } else {
        move(n, i);
        if (thin && partCount[n] == 0) {
          partCount[n] = 1;
        }
        n++;
      }
    }
    parts = n;
    int empty = free;
    for (int i = 0; i < parts; i++) {
      if (partWidth[i] >= cell) {
        continue;
      }
      int lack = cell - partWidth[i];
      int taken = Math.min(lack, empty);
      empty -= taken;
      partWidth[i] += taken;
      lack -= taken;
      int widest = lack > 0 ? widest() : -1;
      if (widest >= 0 && partWidth[widest] >= cell + lack) {
        partWidth[widest] -= lack;
        partWidth[i] += lack;
      } else if (lack > 0 && parts > 1) {
        swallow(i);
        i = -1; // Widths changed: begin again at the first.
      }
    }
  }

  /** The least width of a frame with a box of its own. */
  private int leastOwn(int index, int cell) {
    if (drawn == null) {
      return cell;
    }
    boolean had = Arrays.binarySearch(drawn, slice.node()[index]) >= 0;
    return had ? cell - cell / 4 : cell + cell / 4;
  }

  private int widest() {
    int best = 0;
    for (int i = 1; i < parts; i++) {
      if (partWidth[i] > partWidth[best]) {
        best = i;
      }
    }
    return best;
  }

  /** Joins a run with its smaller neighbour. */
  private void swallow(int run) {
    boolean before = run == parts - 1 || run > 0 && partWidth[run - 1] <= partWidth[run + 1];
    int keep = before ? run - 1 : run;
    if (partCount[keep] == 0) {
      partCount[keep] = 1;
    }
    swallowNext(keep);
    // The new neighbour may be a run as well.
    if (keep + 1 < parts && partCount[keep + 1] > 0) {
      swallowNext(keep);
    }
    if (keep > 0 && partCount[keep - 1] > 0) {
      swallowNext(keep - 1);
    }
  }

  private void swallowNext(int keep) {
    join(keep, keep + 1);
    for (int i = keep + 2; i < parts; i++) {
      move(i - 1, i);
    }
    parts--;
  }

  private void join(int into, int part) {
    partCount[into] += Math.max(1, partCount[part]);
    partWidth[into] += partWidth[part];
    partEnd[into] = partEnd[part];
    partLast[into] = partLast[part];
    if (partNode[into] < 0) {
      partNode[into] = partNode[part];
    }
  }

  private void move(int to, int from) {
    partNode[to] = partNode[from];
    partCount[to] = partCount[from];
    partWidth[to] = partWidth[from];
    partEnd[to] = partEnd[from];
    partLast[to] = partLast[from];
  }
}
