package flametop.view.layout;

import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Siblings;
import java.util.Arrays;

/**
 * Where each box of the graph is, in eighths of a cell: level 0 is the root, the ancestors of the
 * zoomed node fill the width, and below it each child has its share of its parent. Immutable.
 */
public final class Geometry {
  /*
   * A parent's eighths are given to its children, and to itself for the time that is in no child, by largest remainder, so that
   * together they are the parent's to the eighth. Children keep the slice's order (by name) and stand at the left; what is the
   * parent's own stays empty at the right.
   *
   * A child under one cell is not drawn by itself: it and its neighbours of that kind become one box that says how many they
   * are, and what the slice summed up (hiddenCount) joins the last of these runs. A run has a cell at least: it takes what it
   * lacks from the empty part, then from the widest sibling, then it swallows its smallest neighbour.
   *
   * On the zoomed node a run is a part of the width at most: opening one leads to fewer frames each time, to single ones at last.
   *
   * Of a live graph every edge would move by an eighth or so with every picture, which is chance of the samples, unrest to the
   * eye, and most of the bytes of a picture. So an edge stays where it was in the picture before as long as that is within a
   * hundredth of the width, a cell at least, of where it belongs (after). Errors do not add up: each edge is compared with its
   * own place, not with its neighbours'. And a frame that is about a cell wide has a box if it had one.
   */

  /** Eighths in a cell. */
  public static final int CELL = 8;

  /** A run on the zoomed node has this part of the width at most, but so many cells it may have. */
  private static final int RUNS = 8;

  private static final int RUN_CELLS = 8;

  private final int columns;
  private final int size;
  private final int[] node;
  private final int[] parent;
  private final int[] level;
  private final int[] left;
  private final int[] right;
  private final int[] more;
  private final int[] last;
  private final int[] boxOf;
  private final int[] levelStart;
  private final int zoomLevel;
  private final GraphSlice slice;
  private final int zoomIndex;
  private final boolean wholeCells;

  private Geometry(Builder b, int zoomIndex, boolean wholeCells) {
    this.zoomIndex = zoomIndex;
    this.wholeCells = wholeCells;
    slice = b.slice;
    columns = b.columns;
    size = b.size;
    node = Arrays.copyOf(b.node, size);
    parent = Arrays.copyOf(b.parent, size);
    level = Arrays.copyOf(b.level, size);
    left = Arrays.copyOf(b.left, size);
    right = Arrays.copyOf(b.right, size);
    more = Arrays.copyOf(b.more, size);
    last = Arrays.copyOf(b.last, size);
    boxOf = b.boxOf;
    zoomLevel = b.zoomLevel;
    int levels = size == 0 ? 0 : level[size - 1] + 1;
    levelStart = new int[levels + 1];
    Arrays.fill(levelStart, size);
    for (int i = size - 1; i >= 0; i--) {
      levelStart[level[i]] = i;
    }
  }

  /** The same, with edges of its own. */
  private Geometry(Geometry other, int[] left, int[] right) {
    columns = other.columns;
    size = other.size;
    node = other.node;
    parent = other.parent;
    level = other.level;
    this.left = left;
    this.right = right;
    more = other.more;
    last = other.last;
    boxOf = other.boxOf;
    levelStart = other.levelStart;
    zoomLevel = other.zoomLevel;
    slice = other.slice;
    zoomIndex = other.zoomIndex;
    wholeCells = other.wholeCells;
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
      GraphSlice slice, int zoomIndex, int columns, boolean wholeCells, long[] drawn) {
    Builder b = new Builder(slice, columns, wholeCells ? CELL : 1, drawn);
    b.build(zoomIndex);
    return new Geometry(b, zoomIndex, wholeCells);
  }

  /**
   * Lays out the picture that follows {@code before}: what changed little stays as it was. An edge
   * is within {@link #slack} of where it belongs.
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
    return new Settling(exact, before).settled();
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

  /** How far from its place an edge may stay, in eighths. */
  static int slack(int columns) {
    return Math.max(CELL, columns * CELL / 100);
  }

  /** The number of a box's node; -1 for none. */
  private long number(int box) {
    return node[box] < 0 ? -1 : slice.node()[node[box]];
  }

  /** The first box on a box; {@link #size} if there is none. */
  private int firstOn(int box) {
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

  /** Whether it is {@link #of} just these. */
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

  /** Number of boxes; ordered by level, then from left to right. */
  public int size() {
    return size;
  }

  /**
   * Index of its node in the slice. For a run of thin frames: of the first of them that the slice
   * lists, or -1.
   */
  public int node(int box) {
    return node[box];
  }

  /** The box above it (towards the root); -1 for the root. */
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

  /** How many frames the box stands for, if it is a run of thin ones; 0 for a frame's own box. */
  public int more(int box) {
    return more[box];
  }

  /** What a run holds; null if the slice lists nothing of it. */
  public Siblings siblings(int box) {
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

  /** The box of a node of the slice, or the run that it is in; -1 if it is in no box. */
  public int boxOf(int index) {
    return boxOf[index];
  }

  /** The box of a node by its number; -1 if it has none. */
  public int boxOfNode(long number) {
    long[] numbers = slice.node();
    for (int i = 0; i < numbers.length; i++) {
      if (numbers[i] == number) {
        return boxOf[i];
      }
    }
    return -1;
  }

  /** The box on the same level to the right (1) or left (-1); -1 if there is none. */
  public int neighbour(int box, int direction) {
    int next = box + direction;
    return next >= 0 && next < size && level[next] == level[box] ? next : -1;
  }

  /** The widest box on it (away from the root), frames before runs; -1 if there is none. */
  public int child(int box) {
    int best = -1;
    if (level[box] + 1 < levels()) {
      for (int i = levelStart[level[box] + 1]; i < levelStart[level[box] + 2]; i++) {
        if (parent[i] == box && (best < 0 || better(i, best))) {
          best = i;
        }
      }
    }
    return best;
  }

  private boolean better(int a, int b) {
    if (isRun(a) != isRun(b)) {
      return isRun(b);
    }
    return right[a] - left[a] > right[b] - left[b];
  }

  /** Finds the edges of a picture that follows another one. */
  private static final class Settling {
    private final Geometry exact;
    private final Geometry before;
    private final int slack;
    private final int[] left;
    private final int[] right;

    /** What each box was before; -1 for none. */
    private final int[] was;

    /** What each box needs: a cell, or what the boxes on it need. */
    private final int[] least;

    Settling(Geometry exact, Geometry before) {
      this.exact = exact;
      this.before = before;
      slack = slack(exact.columns);
      left = exact.left.clone();
      right = exact.right.clone();
      was = new int[exact.size];
      Arrays.fill(was, -1);
      was[exact.zoomLevel] = before.zoomLevel;
      least = new int[exact.size];
      for (int box = exact.size - 1; box > exact.zoomLevel; box--) {
        least[box] = Math.max(least[box], Math.min(CELL, right[box] - left[box]));
        least[exact.parent[box]] += least[box];
      }
    }

    Geometry settled() {
      for (int from = exact.zoomLevel + 1, end; from < exact.size; from = end) {
        for (end = from + 1; end < exact.size && exact.parent[end] == exact.parent[from]; ) {
          end++;
        }
        match(from, end);
        settle(from, end);
      }
      return new Geometry(exact, left, right);
    }

    /** Finds what siblings were: boxes of the same nodes, runs where runs were. */
    private void match(int from, int end) {
      int old = was[exact.parent[from]];
      int at = old < 0 ? before.size : before.firstOn(old);
      for (int box = from; box < end; box++) {
        for (int i = at; i < before.size && before.parent[i] == old; i++) {
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
     * Places siblings: none gets less than it needs, and their parent's end is theirs if it was.
     */
    private void settle(int from, int end) {
      int up = exact.parent[from];
      int others = least[up];
      int x = left[up];
      for (int box = from; box < end; box++) {
        others -= least[box];
        int to = exact.right[box];
        if (was[box] >= 0 && Math.abs(before.right[was[box]] - to) <= slack) {
          to = before.right[was[box]];
        }
        if (box == end - 1 && exact.right[box] == exact.right[up]) {
          to = right[up];
        }
        left[box] = x;
        right[box] = Math.max(x + least[box], Math.min(to, right[up] - others));
        x = right[box];
      }
    }
  }

  private static final class Builder {
    final GraphSlice slice;
    final int columns;
    final int unit;
    final long[] drawn;
    final int[] firstChild;
    final int[] nextSibling;
    final int[] boxOf;
    int[] node = new int[256];
    int[] parent = new int[256];
    int[] level = new int[256];
    int[] left = new int[256];
    int[] right = new int[256];
    int[] more = new int[256];
    int[] last = new int[256];
    int size;
    int zoomLevel;

    // The children of one box while they are laid out: node, how many frames, width.
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
    Builder(GraphSlice slice, int columns, int unit, long[] drawn) {
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
        boxOf[chain[i]] = add(chain[i], i - 1, i, 0, columns * CELL);
      }
      zoomLevel = depth;
      for (int box = depth; box < size; box++) {
        if (more[box] == 0) {
          children(box);
        }
      }
    }

    private int add(int index, int up, int depth, int from, int to) {
      if (size == node.length) {
        int grown = size * 2;
        node = Arrays.copyOf(node, grown);
        parent = Arrays.copyOf(parent, grown);
        level = Arrays.copyOf(level, grown);
        left = Arrays.copyOf(left, grown);
        right = Arrays.copyOf(right, grown);
        more = Arrays.copyOf(more, grown);
        last = Arrays.copyOf(last, grown);
      }
      node[size] = index;
      parent[size] = up;
      level[size] = depth;
      left[size] = from;
      right[size] = to;
      more[size] = 0;
      last[size] = index;
      return size++;
    }

    private void children(int box) {
      int index = node[box];
      int width = (right[box] - left[box]) / unit;
      share(index, width, slice.opened() && index == slice.zoomIndex());
      if (parts == 0) {
        return;
      }
      int free = width;
      for (int i = 0; i < parts; i++) {
        free -= partWidth[i];
      }
      int most =
          level[box] == zoomLevel
              ? Math.max(RUN_CELLS, columns / RUNS) * CELL / unit
              : Integer.MAX_VALUE;
      mergeThin(free, CELL / unit, most);
      int x = left[box];
      int child = firstChild[index];
      for (int i = 0; i < parts; i++) {
        int to = x + partWidth[i] * unit;
        int made = add(partNode[i], box, level[box] + 1, x, to);
        more[made] = partCount[i];
        last[made] = partLast[i];
        // All nodes up to the part's end are in it.
        for (; child >= 0 && child < partEnd[i]; child = nextSibling[child]) {
          boxOf[child] = made;
        }
        x = to;
      }
    }

    /**
     * Gives {@code width} units to the children and to the parent itself.
     *
     * @param fill nothing to the parent itself
     */
    private void share(int index, int width, boolean fill) {
      parts = 0;
      double sum = 0;
      for (int c = firstChild[index]; c >= 0; c = nextSibling[c]) {
        grow();
        partNode[parts] = c;
        partCount[parts] = slice.bundled()[c];
        partEnd[parts] = c + 1;
        partLast[parts] = c;
        rest[parts] = slice.extent(c);
        sum += slice.extent(c);
        parts++;
      }
      if (slice.hiddenCount()[index] > 0) {
        grow();
        partNode[parts] = -1;
        partCount[parts] = slice.hiddenCount()[index];
        partEnd[parts] = Integer.MAX_VALUE;
        partLast[parts] = -1;
        rest[parts] = slice.hiddenWeight()[index];
        sum += slice.hiddenWeight()[index];
        parts++;
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
     * Gives a unit more to each of the {@code left} largest remainders, the first of equal ones.
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

    private void grow() {
      if (parts == partNode.length) {
        int grown = parts * 2;
        partNode = Arrays.copyOf(partNode, grown);
        partCount = Arrays.copyOf(partCount, grown);
        partWidth = Arrays.copyOf(partWidth, grown);
        partEnd = Arrays.copyOf(partEnd, grown);
        partLast = Arrays.copyOf(partLast, grown);
        rest = Arrays.copyOf(rest, grown);
      }
    }

    /** Joins thin neighbours to runs up to a width, then sees to it that each part has a cell. */
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
          i = -1; // Widths changed: look again from the first.
        }
      }
    }

    /** From this width on a frame has a box. */
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
      join(keep, keep + 1);
      for (int i = keep + 2; i < parts; i++) {
        move(i - 1, i);
      }
      parts--;
      // What it stands beside now may be a run as well.
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
}
