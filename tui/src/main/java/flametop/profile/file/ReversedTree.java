package flametop.profile.file;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.profile.answer.Shape;
import flametop.profile.tree.Functions;
import flametop.profile.tree.HeldStacks;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stacks of a tree with their innermost frame first: exact sums, and nodes only where somebody
 * looks.
 *
 * <p>Turned round, stacks share few frames: a million stacks have twenty-five million nodes, of
 * which a screen shows hundreds. So a node knows the stacks that pass through the node. Its
 * children are made when they are first read: the stacks are parted by the function that comes
 * next. All stacks stand in one array, in which the stacks of a node are neighbours, and so are the
 * stacks of each child. Parting puts the range of the node in order.
 */
final class ReversedTree extends ArrayTree {
  /** How many stacks are parted while somebody waits: a few ms. */
  private static final int AT_ONCE = 1 << 16;

  /** How many stacks are parted between two looks at the clock. */
  private static final int BETWEEN = 1 << 12;

  private final StackTree from;
  private final Functions functions;

  /** Whether the outermost frame stays the first, above the frames that are turned round. */
  private final boolean grouped;

  private final int mostNodes;

  // What ends in each node of the tree that is turned round.
  private final long[] now;
  private final long @Nullable [] before;
  private final long times;
  private final double scale;
  private final long parts;

  /** The stacks: the node of the other tree in which each ends. */
  private int[] stack = new int[0];

  /**
   * The frame of each stack that its deepest node stands for; the root: the stack was not parted.
   */
  private int[] place = new int[0];

  // The stacks of each node.
  private IntColumn begin = new IntColumn();
  private IntColumn end = new IntColumn();

  private final LongColumn sumBefore = new LongColumn();

  /** Nodes whose children are made. */
  private final BitSet opened = new BitSet();

  /**
   * A request to open a node.
   *
   * @param least weight of the nodes below that are opened, too
   * @param levels how many levels below are opened
   */
  private record Wanted(int node, double least, int levels) {}

  /** Open requests, the last first. */
  private final ArrayDeque<Wanted> wanted = new ArrayDeque<>();

  /** Weight of all requested nodes, and weight of the node that was requested first. */
  private double due;

  private double asked;
  private boolean shownWhole;

  private @Nullable Parting parting;
  private @Nullable Gathering gathering;

  /** By node of the other tree, while stacks are gathered: the outermost frame above the node. */
  private int[] outermost = new int[0];

  private int atOnce;
  private boolean overflows;

  /** By function: the child plus 1; only while the children of a node are made. */
  private int[] childOf = new int[0];

  /**
   * A tree that is empty until it is {@linkplain #gather gathered}.
   *
   * @param grouped whether the outermost frame of each stack stays the first
   * @param older an older tree of these stacks, whose nodes keep their numbers; null: there is none
   */
  ReversedTree(
      StackTree from,
      Functions functions,
      boolean grouped,
      int mostNodes,
      @Nullable ReversedTree older) {
    this.from = from;
    this.functions = functions;
    this.grouped = grouped;
    this.mostNodes = mostNodes;
    now = from.ends();
    before = from.endsBefore();
    times = from.times();
    scale = from.scale();
    parts = from.parts();
    if (older != null) {
      keys = older.keys.copy();
      firstChild = older.firstChild.copy();
      sibling = older.sibling.copy();
      sum.zero(nodes());
    }
    begin.set(nodes() - 1, 0);
    end.set(nodes() - 1, 0);
    gathering = new Gathering();
  }

  /** Gathers the stacks, and then parts them for the children of the root. */
  private final class Gathering {
    final IntColumn stacks = new IntColumn();
    final int nodes = Math.min(from.nodes(), now.length);
    int node;

    Gathering() {
      outermost = new int[grouped ? nodes : 0];
    }

    boolean step(long deadline) {
      while (node < nodes) {
        int to = Math.min(nodes, node + BETWEEN);
        for (; node < to; node++) {
          if (grouped) {
            int parent = from.parent(node);
            outermost[node] = parent <= ROOT ? node : outermost[parent];
          }
          if (now[node] != 0 || before != null && before[node] != 0) {
            stacks.add(node);
            weigh(ROOT, node);
          }
        }
        if (System.nanoTime() - deadline >= 0) {
          return false;
        }
      }
      if (parting == null) {
        stack = stacks.toArray();
        place = new int[stack.length];
        end.items[ROOT] = stack.length;
        parting = new Parting(ROOT);
      }
      return parting.step(deadline);
    }
  }

  /**
   * Gathers stacks, until {@code deadline} ({@link System#nanoTime}).
   *
   * @return whether all are gathered
   */
  boolean gather(long deadline) {
    if (gathering != null) {
      if (!gathering.step(deadline)) {
        return false;
      }
      parting = null;
      gathering = null;
      outermost = new int[0];
      changes++;
    }
    return true;
  }

  /** Which part of {@link #gather} is done, 0 to 1. */
  double gathered() {
    if (gathering == null) {
      return 1;
    }
    return (double) gathering.node / Math.max(1, gathering.nodes) / 3
        + (parting == null ? 0 : parting.share() * 2 / 3);
  }

  /** Orders the stacks of a node by the function that comes next, and makes a child for each. */
  private final class Parting {
    final int node;
    final int first;
    final int count;

    /** By stack: its child, and its frame there; 0: the stack ends in the node. */
    final int[] child;

    final int[] next;
    final int[] sortedStack;
    final int[] sortedPlace;
    int ended;
    int head;
    int looked;
    int sorted;

    Parting(int node) {
      this.node = node;
      first = begin.items[node];
      count = end.items[node] - first;
      child = new int[count];
      next = new int[count];
      sortedStack = new int[count];
      sortedPlace = new int[count];
      // Those of an older tree keep their numbers.
      head = firstChild.items[node];
    }

    double share() {
      return (looked + sorted) / (2.0 * Math.max(1, count));
    }

    boolean step(long deadline) {
      if (looked < count && !look(deadline)) {
        return false;
      }
      if (sorted == 0) {
        int at = first + ended;
        for (int c = head; c != NONE; c = sibling.items[c]) {
          int its = end.items[c];
          begin.items[c] = at;
          end.items[c] = at;
          at += its;
        }
        ended = 0;
      }
      while (sorted < count) {
        int to = Math.min(count, sorted + BETWEEN);
        for (; sorted < to; sorted++) {
          int c = child[sorted];
          int at = c == 0 ? ended++ : end.items[c]++ - first;
          sortedStack[at] = stack[first + sorted];
          sortedPlace[at] = next[sorted];
        }
        if (sorted < count && System.nanoTime() - deadline >= 0) {
          return false;
        }
      }
      System.arraycopy(sortedStack, 0, stack, first, count);
      System.arraycopy(sortedPlace, 0, place, first, count);
      firstChild.items[node] = head;
      opened.set(node);
      return true;
    }

    private boolean look(long deadline) {
      if (childOf.length < functions.functions()) {
        childOf = new int[2 * functions.functions()];
      }
      for (int c = head; c != NONE; c = sibling.items[c]) {
        childOf[function(c)] = c + 1;
      }
      boolean late = false;
      while (looked < count && !late) {
        int to = Math.min(count, looked + BETWEEN);
        for (; looked < to; looked++) {
          look(looked);
        }
        late = System.nanoTime() - deadline >= 0;
      }
      // Another node may be opened before this one is gone on with.
      for (int c = head; c != NONE; c = sibling.items[c]) {
        childOf[function(c)] = 0;
      }
      return looked == count && !late;
    }

    private void look(int i) {
      int of = stack[first + i];
      int function;
      if (node == ROOT && grouped) {
        int first = outermost[of];
        if (first == ROOT) {
          ended++;
          return;
        }
        function = from.function(first);
      } else {
        int after = after(first + i);
        if (after == ROOT) {
          ended++;
          return;
        }
        next[i] = after;
        function = from.function(after);
      }
      int c = childOf[function] - 1;
      if (c < 0) {
        c = make(node, function, head);
        head = c;
        childOf[function] = c + 1;
      }
      child[i] = c;
      end.items[c]++;
      weigh(c, of);
    }
  }

  private void weigh(int node, int of) {
    sum.items[node] += now[of] * times;
    if (before != null) {
      sumBefore.set(node, sumBefore.get(node) + StackTree.scaled(before[of], scale));
    }
  }

  /** The frame of a stack one further out; the root: there is none. */
  private int after(int i) {
    int next = place[i] == ROOT ? stack[i] : from.parent(place[i]);
    return grouped && next != ROOT && from.parent(next) == ROOT ? ROOT : next;
  }

  private int make(int parent, int function, int next) {
    keys.add(key(parent, function));
    begin.add(0);
    end.add(0);
    sum.add(0);
    return link(next);
  }

  /** Allows work for a question: so many stacks are parted at once. */
  void refill() {
    atOnce = AT_ONCE;
  }

  @Override
  public void look() {
    wanted.clear();
    due = 0;
    asked = 0;
  }

  @Override
  public void open(int node, double least, int levels) {
    if (levels > 0 && gathering == null && !opened.get(node) && reach(node)) {
      if (asked == 0) {
        asked = extent(node);
      }
      if (!openAtOnce(node)) {
        want(node, least, levels);
      }
    }
  }

  @Override
  public int follow(int node) {
    boolean unused = reach(node);
    return node;
  }

  /**
   * Opens all nodes above a node that an older tree had: until then the node has no sum.
   *
   * @return whether all of them are open
   */
  boolean reach(int node) {
    IntColumn above = new IntColumn();
    for (int n = parent(node); n >= ROOT && !opened.get(n); n = parent(n)) {
      above.add(n);
    }
    for (int i = above.size - 1; i >= 0; i--) {
      if (!openAtOnce(above.items[i])) {
        want(above.items[i], Double.POSITIVE_INFINITY, 1);
        return false;
      }
    }
    return true;
  }

  boolean isOpened(int node) {
    return opened.get(node);
  }

  private boolean openAtOnce(int node) {
    int count = end.items[node] - begin.items[node];
    if (parting != null && parting.node == node || count > atOnce || isFull(count)) {
      return false;
    }
    atOnce -= count;
    part(node, Long.MAX_VALUE);
    return true;
  }

  private boolean isFull(int more) {
    // No two children have one function.
    overflows |= nodes() + Math.min(more, functions.functions()) > mostNodes;
    return overflows;
  }

  /** Makes the children of a node; most nodes have one stack. */
  private boolean part(int node, long deadline) {
    if (end.items[node] - begin.items[node] != 1) {
      Parting all = new Parting(node);
      if (!all.step(deadline)) {
        parting = all;
        return false;
      }
      return true;
    }
    int i = begin.items[node];
    int after = after(i);
    if (after != ROOT) {
      int function = from.function(after);
      int c = firstChild.items[node];
      while (c != NONE && function(c) != function) {
        c = sibling.items[c];
      }
      if (c == NONE) {
        c = make(node, function, firstChild.items[node]);
        firstChild.items[node] = c;
      }
      place[i] = after;
      begin.items[c] = i;
      end.items[c] = i + 1;
      weigh(c, stack[i]);
    }
    opened.set(node);
    return true;
  }

  private void want(int node, double least, int levels) {
    if (overflows) {
      return;
    }
    wanted.push(new Wanted(node, least, levels));
    due += extent(node);
  }

  /** Whether there are open requests. */
  boolean isDue() {
    return parting != null || !wanted.isEmpty();
  }

  /** Opens some of the requested nodes, until {@code deadline} ({@link System#nanoTime}). */
  void work(long deadline) {
    changes++;
    do {
      if (parting != null) {
        if (!parting.step(deadline)) {
          return;
        }
        parting = null;
        continue;
      }
      Wanted of = wanted.peek();
      int node = of.node;
      if (!opened.get(node)) {
        if (isFull(end.items[node] - begin.items[node])) {
          look();
        } else if (!part(node, deadline)) {
          return;
        }
        continue;
      }
      wanted.pop();
      due -= extent(node);
      for (int c = firstChild.items[node]; c != NONE && of.levels > 1; c = sibling.items[c]) {
        if (extent(c) >= of.least) {
          want(c, of.least, of.levels - 1);
        }
      }
    } while (isDue() && System.nanoTime() - deadline < 0);
    shownWhole |= !isDue();
  }

  /** Whether there is no room for all requested nodes. */
  boolean overflows() {
    return overflows;
  }

  /** Which part of the requested weight is open, 0 to 1. */
  double share() {
    double done = asked > 0 ? Math.max(0, 1 - due / asked) : 1;
    return shownWhole ? done : 0.5 + done / 2;
  }

  private double extent(int node) {
    return Math.max(weight(node, 0), baseline(node, 0));
  }

  /** Which stacks pass through any of some functions. */
  final class Marks {
    /** By node of the other tree: whether a frame on its path is one of the functions. */
    private final BitSet marked = new BitSet();

    /** Weight of these stacks. */
    final long weight;

    /** Marks by function whether it is one of them. */
    Marks(BitSet is) {
      BitSet owners = new BitSet();
      long all = 0;
      int nodes = Math.min(from.nodes(), now.length);
      for (int node = 1; node < nodes; node++) {
        int parent = from.parent(node);
        boolean its = is.get(from.function(node));
        if (grouped && parent == ROOT) {
          owners.set(node, its);
        } else {
          marked.set(node, its || marked.get(parent));
          owners.set(node, owners.get(parent));
        }
        all += marked.get(node) || owners.get(node) ? now[node] * times : 0;
      }
      weight = all;
    }

    /** Whether one of the functions is below a node, be the node open or not. */
    boolean leads(int node) {
      for (int i = begin.items[node]; i < end.items[node]; i++) {
        int after = after(i);
        if (after != ROOT && marked.get(after)) {
          return true;
        }
      }
      return false;
    }
  }

  @Override
  HeldStacks held(int node, StackNames names, Shape shape, List<String> zoom) {
    int[] its = Arrays.copyOfRange(stack, begin.items[node], end.items[node]);
    HeldStacks.Ends ends = from.ends(names, now, before, weight(node, 0) / times, shape);
    return HeldStacks.reversed(ends, its, grouped, zoom);
  }

  @Override
  long parts() {
    return parts;
  }

  @Override
  public long self(int node, int states) {
    if (opened.get(node)) {
      return super.self(node, states);
    }
    long self = 0;
    for (int i = begin.items[node]; i < end.items[node]; i++) {
      self += after(i) == ROOT ? now[stack[i]] * times : 0;
    }
    return self;
  }

  @Override
  public long baseline(int node, int states) {
    return before == null ? 0 : sumBefore.get(node);
  }

  @Override
  public boolean hasBaseline() {
    return before != null;
  }
}
