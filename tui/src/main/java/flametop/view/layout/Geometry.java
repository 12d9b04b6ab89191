package flametop.view.layout;

import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Siblings;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The places of all boxes of a graph, in eighths of a cell. Level 0 is the root; ancestors of the
 * zoomed node fill the width; below the zoomed node each child has its share of its parent.
 * Immutable once {@link SteadyEdges} has moved the edges.
 */
public final class Geometry {
  /** Eighths in a cell. */
  public static final int CELL = 8;

  private final int columns;
  private final int size;
  private final int[] node;
  private final int[] parent;
  private final int[] level;
  final int[] left;
  final int[] right;

  /** Where the part of each box begins in which tasks waited for a CPU. */
  final int[] queued;

  private final int[] more;
  private final int[] last;
  private final int[] boxOf;
  private final int[] levelStart;
  private final int zoomLevel;
  private final GraphSlice slice;
  private final int zoomIndex;
  private final boolean wholeCells;

  private Geometry(GeometryBuilder b, int zoomIndex, boolean wholeCells) {
    this.zoomIndex = zoomIndex;
    this.wholeCells = wholeCells;
    slice = b.slice;
    columns = b.columns;
    size = b.size;
    node = b.node.toArray();
    parent = b.parent.toArray();
    level = b.level.toArray();
    left = b.left.toArray();
    right = b.right.toArray();
    more = b.more.toArray();
    queued = new int[size];
    for (int box = 0; box < size; box++) {
      double share = more[box] > 0 ? 0 : slice.queuedShare(node[box]);
      queued[box] = right[box] - (int) Math.round(share * (right[box] - left[box]));
    }
    last = b.last.toArray();
    boxOf = b.boxOf;
    zoomLevel = b.zoomLevel;
    int levels = size == 0 ? 0 : level[size - 1] + 1;
    levelStart = new int[levels + 1];
    Arrays.fill(levelStart, size);
    for (int i = size - 1; i >= 0; i--) {
      levelStart[level[i]] = i;
    }
  }

  /**
   * @param zoomIndex index in the slice of the node that fills the width
   * @param columns width in cells
   * @param wholeCells edges at whole cells only
   */
  public static Geometry of(GraphSlice slice, int zoomIndex, int columns, boolean wholeCells) {
    return of(slice, zoomIndex, columns, wholeCells, null);
  }

  private static Geometry of(
      GraphSlice slice, int zoomIndex, int columns, boolean wholeCells, long @Nullable [] drawn) {
    GeometryBuilder b = new GeometryBuilder(slice, columns, wholeCells ? CELL : 1, drawn);
    b.build(zoomIndex);
    return new Geometry(b, zoomIndex, wholeCells);
  }

  /**
   * Lays out the picture that follows {@code before}: edges that moved little stay. An edge is
   * within {@link #slack} of its exact place.
   */
  static Geometry after(
      Geometry before, GraphSlice slice, int zoomIndex, int columns, boolean wholeCells) {
    boolean follows =
        before.size > 0
            && slice.size() > 0
            && before.columns == columns
            && before.wholeCells == wholeCells
            && before.number(before.zoomLevel) == slice.node()[zoomIndex];
    if (!follows) {
      return of(slice, zoomIndex, columns, wholeCells);
    }
    Geometry exact = of(slice, zoomIndex, columns, wholeCells, wholeCells ? null : before.drawn());
    return new SteadyEdges(exact, before).settled();
  }

  /** Numbers of the nodes that have a box of their own, ascending. */
  private long[] drawn() {
    long[] numbers = new long[size];
    int n = 0;
    for (int box = 0; box < size; box++) {
      if (!isRun(box)) {
        numbers[n++] = number(box);
      }
    }
    Arrays.sort(numbers, 0, n);
    Arrays.fill(numbers, n, size, Long.MAX_VALUE);
    return numbers;
  }

  /** How far an edge may stay from its exact place, in eighths. */
  static int slack(int columns) {
    return Math.max(CELL, columns * CELL / 100);
  }

  /** The number of a box's node; -1 for none. */
  long number(int box) {
    return node[box] < 0 ? -1 : slice.node()[node[box]];
  }

  /** The first child of a box; {@link #size} if it has none. */
  int firstOn(int box) {
    if (level[box] + 1 >= levels()) {
      return size;
    }
    int from = levelStart[level[box] + 1];
    int end = levelStart[level[box] + 2];
    while (from < end) {
      int middle = (from + end) >>> 1;
      if (parent[middle] < box) {
        from = middle + 1;
      } else {
        end = middle;
      }
    }
    return from < size && parent[from] == box ? from : size;
  }

  /** Whether this is the layout of just these arguments. */
  @SuppressWarnings("ReferenceEquality") // another picture, another slice
  boolean isOf(GraphSlice aSlice, int aZoomIndex, int someColumns, boolean inWholeCells) {
    return slice == aSlice
        && zoomIndex == aZoomIndex
        && columns == someColumns
        && wholeCells == inWholeCells;
  }

  public GraphSlice slice() {
    return slice;
  }

  public int columns() {
    return columns;
  }

  /** How many boxes there are. They are ordered by level, then from left to right. */
  public int size() {
    return size;
  }

  /**
   * Index of the box's node in the slice. A run of thin frames has the index of its first frame
   * that the slice lists, or -1.
   */
  public int node(int box) {
    return node[box];
  }

  /** The box of the parent; -1 for the root. */
  public int parent(int box) {
    return parent[box];
  }

  public int level(int box) {
    return level[box];
  }

  /** Left edge in eighths of a cell. */
  public int left(int box) {
    return left[box];
  }

  public int right(int box) {
    return right[box];
  }

  /**
   * Where the part of a box begins in which tasks waited for a CPU, in eighths of a cell: its right
   * edge if no task waited.
   */
  public int queuedFrom(int box) {
    return queued[box];
  }

  /** How many frames a run stands for; 0 for the box of one frame. */
  public int more(int box) {
    return more[box];
  }

  /** The frames of a run; null if the slice lists none of them. */
  public @Nullable Siblings siblings(int box) {
    return node[box] < 0 || last[box] < 0
        ? null
        : new Siblings(slice.node()[node[box]], slice.last()[last[box]]);
  }

  public boolean isRun(int box) {
    return more[box] > 0;
  }

  public int levels() {
    return levelStart.length - 1;
  }

  /** Level of the zoomed node. */
  public int zoomLevel() {
    return zoomLevel;
  }

  /** First box of a level; the end of the last level is {@link #size}. */
  public int levelStart(int level) {
    return levelStart[level];
  }

  /** The box of a node of the slice, or the run with the node; -1 if no box has it. */
  public int boxOf(int index) {
    return boxOf[index];
  }

  /** The box of a node by its number; -1 if no box has it. */
  public int boxOfNode(long number) {
    long[] numbers = slice.node();
    for (int i = 0; i < numbers.length; i++) {
      if (numbers[i] == number) {
        return boxOf[i];
      }
    }
    return -1;
  }

  /** The next box of the same level to the right (1) or left (-1); -1 at the edge. */
  public int neighbour(int box, int direction) {
    int next = box + direction;
    return next >= 0 && next < size && level[next] == level[box] ? next : -1;
  }

  /** The widest child of a box, frames before runs; -1 if it has none. */
  public int child(int box) {
    int best = -1;
    for (int i = firstOn(box); i < size && parent[i] == box; i++) {
      best = best < 0 || better(i, best) ? i : best;
    }
    return best;
  }

  private boolean better(int a, int b) {
    if (isRun(a) != isRun(b)) {
      return isRun(b);
    }
    return right[a] - left[a] > right[b] - left[b];
  }
}
