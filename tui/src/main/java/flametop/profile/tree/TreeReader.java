package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.IntStream;

/** Reads out of a call tree what can be seen of it. Goes only where something is to be seen. */
public final class TreeReader {
  private static final int STATES = State.values().length;
  private static final int ALL = StateSet.ALL.bits();
  private static final int QUEUED = StateSet.of(State.QUEUED).bits();
  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final CallTree tree;
  private final Functions functions;
  private final SiblingOrder siblings = new SiblingOrder();
  private final Matches matches;
  private final long epoch;

  /**
   * @param epoch upper half of the numbers of the nodes
   */
  public TreeReader(CallTree tree, Functions functions, int epoch) {
    this.tree = tree;
    this.functions = functions;
    matches = new Matches(functions);
    this.epoch = (long) epoch << 32;
  }

  public long number(int node) {
    return node == ROOT ? GraphQuery.ROOT : epoch | node;
  }

  public long total(StateSet states) {
    return weight(ROOT, states.bits());
  }

  /** Time in each state, by {@link State#ordinal()}; 0 where none is known. */
  long[] totalByState() {
    long[] amount = new long[STATES];
    for (int state = 0; state < STATES && tree.hasStates(); state++) {
      amount[state] = weight(ROOT, 1 << state);
    }
    return amount;
  }

  /** Number of the heaviest node below the root; the root if there is none. */
  long heaviestBranch() {
    return number(Math.max(ROOT, branch()));
  }

  /** The amount in the function of {@link #heaviestBranch} itself, wherever it stands. */
  long selfOfBranch(StateSet states) {
    int first = branch();
    if (first == NONE) {
      return 0;
    }
    int function = tree.function(first);
    long amount = 0;
    for (int node = first; node < tree.nodes(); node++) {
      boolean its = tree.function(node) == function;
      int parent = tree.parent(node);
      boolean below = parent != NONE && tree.function(parent) == function;
      if (its != below) {
        amount += (its ? 1 : -1) * tree.weight(node, states.bits());
      }
    }
    return Math.max(0, amount);
  }

  private int branch() {
    int heaviest = NONE;
    for (int n = tree.firstChild(ROOT); n != NONE; n = tree.sibling(n)) {
      boolean more = heaviest == NONE || weight(n, ALL) > weight(heaviest, ALL);
      heaviest = more ? n : heaviest;
    }
    return heaviest;
  }

  public long weight(int node, int states) {
    return Math.max(0, tree.weight(node, states));
  }

  /** The amount that is spent in the node itself, and in nothing below the node. */
  public long self(int node, int states) {
    return Math.max(0, tree.self(node, states));
  }

  /** The weight of a node, or of its baseline where that is more. */
  long extent(int node, int states) {
    long weight = weight(node, states);
    return tree.hasBaseline() ? Math.max(weight, tree.baseline(node, states)) : weight;
  }

  public String name(int node) {
    return functions.name(tree.function(node));
  }

  /** Names from the root to a node. */
  public String[] path(int node) {
    return Arrays.stream(tree.pathTo(node)).mapToObj(this::name).toArray(String[]::new);
  }

  /** Numbers of functions that no node has may mean others from now on. */
  void forget() {
    matches.forget();
  }

  /** Order of siblings. */
  int compare(int a, int b) {
    return functions.compare(tree.function(a), tree.function(b));
  }

  private final class SliceBuilder {
    final GraphQuery query;
    final List<Child> listed = new ArrayList<>();
    final LongColumn hiddenWeight = new LongColumn();
    final IntColumn hiddenCount = new IntColumn();

    SliceBuilder(GraphQuery query) {
      this.query = query;
    }

    /** Adds a node, and returns its index. */
    int add(Child of) {
      listed.add(of);
      hiddenWeight.add(0);
      hiddenCount.add(0);
      return listed.size() - 1;
    }

    GraphSlice build(int zoomIndex, boolean opened) {
      int size = listed.size();
      long[] numbers = new long[size];
      int[] parents = new int[size];
      String[] names = new String[size];
      NodeKind[] kinds = new NodeKind[size];
      long[] weights = new long[size];
      int[] bundled = new int[size];
      long[] lasts = new long[size];
      boolean[] guessed = new boolean[size];
      boolean[] matched = new boolean[size];
      boolean parted =
          tree.hasStates()
              && !tree.hasBaseline()
              && query.states().bits() != QUEUED
              && query.states().contains(State.QUEUED);
      long[] queued = parted ? new long[size] : null;
      long[] baseline = tree.hasBaseline() ? new long[size] : null;
      if (query.search() != null) {
        matches.use(query.search());
      }
      for (int i = 0; i < size; i++) {
        Child of = listed.get(i);
        int function = tree.function(of.node);
        numbers[i] = number(of.node);
        parents[i] = of.parent;
        names[i] = functions.name(function);
        kinds[i] = functions.kind(function);
        weights[i] = of.weight;
        bundled[i] = of.count;
        lasts[i] = number(of.last);
        if (of.count > 0) {
          if (baseline != null) {
            baseline[i] = of.weight;
          }
          continue;
        }
        guessed[i] = tree.isGuessed(of.node);
        if (queued != null) {
          queued[i] = weight(of.node, QUEUED);
        }
        matched[i] = query.search() != null && matches.test(function);
        if (baseline != null) {
          baseline[i] = tree.baseline(of.node, query.states().bits());
          weights[i] = weight(of.node, query.states().bits());
        }
      }
      return new GraphSlice(
          numbers,
          parents,
          names,
          kinds,
          weights,
          hiddenWeight.toArray(),
          hiddenCount.toArray(),
          bundled,
          lasts,
          opened,
          guessed,
          matched,
          zoomIndex,
          queued,
          query.byState() ? states(size, queued != null) : null,
          baseline);
    }

    /**
     * @param parted whether queueing is told apart, and counts only where nothing else is
     */
    private byte[] states(int size, boolean parted) {
      byte[] most = new byte[size];
      int shown = query.states().bits() & (parted ? ~QUEUED : ALL);
      for (int i = 0; i < size; i++) {
        long amount = 0;
        most[i] = (byte) (parted ? State.QUEUED : State.RUN).ordinal();
        for (int state = 0; state < STATES; state++) {
          int bit = shown & 1 << state;
          long in = bit == 0 ? 0 : weight(listed.get(i).node, bit);
          if (in > amount) {
            amount = in;
            most[i] = (byte) state;
          }
        }
      }
      return most;
    }
  }

  /**
   * The part of the graph that the query can show.
   *
   * @param zoom the zoomed node
   * @param from first of its children that are wanted; the root for all
   * @param to last of them
   */
  public GraphSlice slice(GraphQuery query, int zoom, int from, int to) {
    int states = query.states().bits();
    tree.look();
    SliceBuilder slice = new SliceBuilder(query);
    int zoomIndex = NONE;
    for (int node : tree.pathTo(zoom)) {
      zoomIndex = slice.add(new Child(node, extent(node, states), zoomIndex, 0));
    }
    boolean opened = tree.parent(from) == zoom && tree.parent(to) == zoom;
    // What is compared is more than its parent where it moved: that is drawn, not a mistake.
    boolean whole = !tree.hasBaseline();
    Deque<Child> due = new ArrayDeque<>();
    List<Child> shown = new ArrayList<>();
    double narrowest = top(slice, zoomIndex, query, opened ? from : NONE, to, shown);
    addFirstOnTop(shown, due);
    IntColumn children = new IntColumn();
    LongColumn weights = new LongColumn();
    while (!due.isEmpty()) {
      Child of = due.pop();
      int index = slice.add(of);
      children.clear();
      weights.clear();
      long sum = 0;
      int first = NONE;
      if (of.count == 0 && of.level < query.levels()) {
        tree.open(of.node, narrowest, query.levels() - of.level);
        first = tree.firstChild(of.node);
      }
      for (int child = first; child != NONE; child = tree.sibling(child)) {
        long amount = extent(child, states);
        if (amount > 0) {
          children.add(child);
          weights.add(amount);
          sum += amount;
        }
      }
      // A window may begin between a sleep and the part that is taken back from it: then children
      // are more than their parent.
      boolean over = whole && sum > of.weight;
      double scale = over ? (double) of.weight / sum : 1;
      shown.clear();
      for (int i = 0; i < children.size; i++) {
        long amount = over ? (long) (weights.items[i] * scale) : weights.items[i];
        if (amount < narrowest) {
          slice.hiddenWeight.items[index] += amount;
          slice.hiddenCount.items[index]++;
        } else {
          shown.add(new Child(children.items[i], amount, index, of.level + 1));
        }
      }
      sort(shown, query);
      addFirstOnTop(shown, due);
    }
    return slice.build(zoomIndex, opened);
  }

  private void sort(List<Child> children, GraphQuery query) {
    children.sort((a, b) -> compare(a.node, b.node));
    if (query.bySize()) {
      measure(children.stream().mapToInt(Child::node), query.states().bits());
      children.sort((a, b) -> siblings.compareSizes(a.node, b.node));
    }
  }

  private void measure(IntStream nodes, int states) {
    double all = Math.max(1, extent(ROOT, states));
    nodes.forEach(node -> siblings.measure(node, extent(node, states) / all));
  }

  /**
   * Lists children of the zoomed node in their order, neighbours that are too narrow as bundles.
   *
   * @param from first that is wanted; -1 for all
   * @return what is less is too narrow
   */
  private double top(
      SliceBuilder slice, int index, GraphQuery query, int from, int to, List<Child> shown) {
    int zoom = slice.listed.get(index).node;
    int states = query.states().bits();
    long weight = slice.listed.get(index).weight;
    tree.open(zoom, weight / (query.columns() * 8.0), query.levels());
    IntColumn order = query.levels() > 0 ? siblings.of(tree, zoom, this::compare) : new IntColumn();
    if (query.bySize()) {
      measure(Arrays.stream(order.items, 0, order.size), states);
      order = siblings.bySize(order);
    }
    int begin = 0;
    int end = order.size;
    boolean begun = false;
    // By size the first of them may stand behind the last by now.
    for (int i = 0; from != NONE && i < order.size; i++) {
      if (order.items[i] == from || order.items[i] == to) {
        begin = begun ? begin : i;
        end = i + 1;
        begun = true;
      }
    }
    long sum = 0;
    for (int i = begin; i < end; i++) {
      sum += extent(order.items[i], states);
    }
    double scale = !tree.hasBaseline() && from == NONE && sum > weight ? (double) weight / sum : 1;
    double narrowest = (double) (from == NONE ? weight : sum) / (query.columns() * 8.0);
    int count = 0;
    int first = NONE;
    int last = NONE;
    long bundle = 0;
    for (int i = begin; i < end; i++) {
      long amount = (long) (extent(order.items[i], states) * scale);
      if (amount <= 0) {
        continue;
      }
      boolean narrow = amount < narrowest;
      if (count > 0 && (!narrow || bundle >= narrowest)) {
        shown.add(new Child(first, bundle, count, last, index, 1));
        count = 0;
        bundle = 0;
      }
      if (narrow) {
        first = count == 0 ? order.items[i] : first;
        last = order.items[i];
        bundle += amount;
        count++;
      } else {
        shown.add(new Child(order.items[i], amount, index, 1));
      }
    }
    if (count > 0) {
      shown.add(new Child(first, bundle, count, last, index, 1));
    }
    return narrowest;
  }

  private static void addFirstOnTop(List<Child> inOrder, Deque<Child> due) {
    for (int i = inOrder.size() - 1; i >= 0; i--) {
      due.push(inOrder.get(i));
    }
  }

  /**
   * A node that is to be listed, or {@code count} neighbours up to {@code last} as one.
   *
   * @param parent index of its parent in the slice
   */
  private record Child(int node, long weight, int count, int last, int parent, int level) {
    Child(int node, long weight, int parent, int level) {
      this(node, weight, 0, node, parent, level);
    }
  }
}
