package flametop.profile;

import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads out of a call tree what can be seen of it. Goes only where something is to be seen. */
final class TreeReader {
  private static final int STATES = State.values().length;
  private static final int ALL = StateSet.ALL.bits();
  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final CallTree tree;
  private final Functions functions;
  private final long epoch;

  /**
   * @param epoch upper half of the numbers of its nodes
   */
  TreeReader(CallTree tree, Functions functions, int epoch) {
    this.tree = tree;
    this.functions = functions;
    this.epoch = (long) epoch << 32;
  }

  long number(int node) {
    return node == ROOT ? GraphQuery.ROOT : epoch | node;
  }

  long total(StateSet states) {
    return weight(ROOT, states.bits());
  }

  /** Time in each state, by {@link State#ordinal()}. */
  long[] totalByState() {
    long[] nanos = new long[STATES];
    for (int state = 0; state < STATES; state++) {
      nanos[state] = weight(ROOT, 1 << state);
    }
    return nanos;
  }

  /** Number of the heaviest node below the root; the root if there is none. */
  long heaviestBranch() {
    return number(Math.max(ROOT, branch()));
  }

  /** ns in the function of {@link #heaviestBranch} itself, wherever it stands. */
  long selfOfBranch(StateSet states) {
    int first = branch();
    if (first == NONE) {
      return 0;
    }
    int function = tree.function(first);
    long nanos = 0;
    for (int node = first; node < tree.nodes(); node++) {
      boolean its = tree.function(node) == function;
      int parent = tree.parent(node);
      boolean below = parent != NONE && tree.function(parent) == function;
      if (its != below) {
        nanos += (its ? 1 : -1) * tree.weight(node, states.bits());
      }
    }
    return Math.max(0, nanos);
  }

  private int branch() {
    int heaviest = NONE;
    for (int n = tree.firstChild(ROOT); n != NONE; n = tree.sibling(n)) {
      boolean more = heaviest == NONE || weight(n, ALL) > weight(heaviest, ALL);
      heaviest = more ? n : heaviest;
    }
    return heaviest;
  }

  long weight(int node, int states) {
    return Math.max(0, tree.weight(node, states));
  }

  /** What is spent in it, and in nothing below it. */
  long self(int node, int states) {
    long self = tree.weight(node, states);
    for (int child = tree.firstChild(node); child != NONE; child = tree.sibling(child)) {
      self -= tree.weight(child, states);
    }
    return Math.max(0, self);
  }

  /** What it is compared with, where that is more. */
  long extent(int node, int states) {
    long weight = weight(node, states);
    return tree.hasBaseline() ? Math.max(weight, tree.baseline(node, states)) : weight;
  }

  String name(int node) {
    return functions.name(tree.function(node));
  }

  /** Order of siblings. */
  int compare(int a, int b) {
    return compareFunctions(tree.function(a), tree.function(b));
  }

  /** By name, then kind, then module. */
  int compareFunctions(int a, int b) {
    if (a == b) {
      return 0;
    }
    int byName = functions.name(a).compareTo(functions.name(b));
    if (byName != 0) {
      return byName;
    }
    int byKind = functions.kind(a).compareTo(functions.kind(b));
    return byKind != 0 ? byKind : functions.module(a).compareTo(functions.module(b));
  }

  private final class SliceBuilder {
    final GraphQuery query;
    final Matches matches;
    final IntList node = new IntList();
    final IntList parent = new IntList();
    final IntList depth = new IntList();
    long[] weight = new long[256];
    long[] hiddenWeight = new long[256];
    int[] hiddenCount = new int[256];

    SliceBuilder(GraphQuery query, Matches matches) {
      this.query = query;
      this.matches = matches;
    }

    int add(int of, int above, int level, long nanos) {
      int at = node.size;
      node.add(of);
      parent.add(above);
      depth.add(level);
      if (at == weight.length) {
        weight = Arrays.copyOf(weight, 2 * at);
        hiddenWeight = Arrays.copyOf(hiddenWeight, 2 * at);
        hiddenCount = Arrays.copyOf(hiddenCount, 2 * at);
      }
      weight[at] = nanos;
      return at;
    }

    GraphSlice build(int zoomIndex) {
      int size = node.size;
      long[] numbers = new long[size];
      String[] names = new String[size];
      NodeKind[] kinds = new NodeKind[size];
      boolean[] matched = new boolean[size];
      long[] baseline = tree.hasBaseline() ? new long[size] : null;
      if (query.search() != null) {
        matches.use(query.search(), functions.functions());
      }
      for (int i = 0; i < size; i++) {
        int function = tree.function(node.items[i]);
        numbers[i] = number(node.items[i]);
        names[i] = functions.name(function);
        kinds[i] = functions.kind(function);
        matched[i] = query.search() != null && matches.matches(functions, function);
        if (baseline != null) {
          baseline[i] = tree.baseline(node.items[i], query.states().bits());
          weight[i] = weight(node.items[i], query.states().bits());
        }
      }
      return new GraphSlice(
          numbers,
          parent.toArray(),
          names,
          kinds,
          Arrays.copyOf(weight, size),
          Arrays.copyOf(hiddenWeight, size),
          Arrays.copyOf(hiddenCount, size),
          matched,
          zoomIndex,
          query.byState() ? states(size) : null,
          baseline);
    }

    private byte[] states(int size) {
      byte[] most = new byte[size];
      for (int i = 0; i < size; i++) {
        long nanos = 0;
        for (int state = 0; state < STATES; state++) {
          int bit = query.states().bits() & 1 << state;
          long in = bit == 0 ? 0 : weight(node.items[i], bit);
          if (in > nanos) {
            nanos = in;
            most[i] = (byte) state;
          }
        }
      }
      return most;
    }
  }

  /** The part of the graph that the query can show. */
  GraphSlice slice(GraphQuery query, int zoom, Matches matches) {
    int states = query.states().bits();
    SliceBuilder slice = new SliceBuilder(query, matches);
    IntList ancestors = new IntList();
    for (int node = tree.parent(zoom); node != NONE; node = tree.parent(node)) {
      ancestors.add(node);
    }
    int above = NONE;
    for (int i = ancestors.size - 1; i >= 0; i--) {
      above = slice.add(ancestors.items[i], above, 0, extent(ancestors.items[i], states));
    }
    int zoomIndex = ancestors.size;
    long zoomWeight = extent(zoom, states);
    // What is compared is more than its parent where it moved: that is drawn, not a mistake.
    boolean whole = !tree.hasBaseline();
    // What is still to be listed: a node, its parent's index, its level and weight.
    IntList dueNode = new IntList();
    IntList dueParent = new IntList();
    IntList dueLevel = new IntList();
    long[] dueWeight = new long[64];
    dueNode.add(zoom);
    dueParent.add(above);
    dueLevel.add(0);
    dueWeight[0] = zoomWeight;
    List<Child> wide = new ArrayList<>();
    IntList children = new IntList();
    long[] weights = new long[64];
    while (dueNode.size > 0) {
      int last = --dueNode.size;
      dueParent.size = last;
      dueLevel.size = last;
      int node = dueNode.items[last];
      int level = dueLevel.items[last];
      long weight = dueWeight[last];
      int index = slice.add(node, dueParent.items[last], level, weight);
      children.clear();
      long sum = 0;
      int first = level < query.levels() ? tree.firstChild(node) : NONE;
      for (int child = first; child != NONE; child = tree.sibling(child)) {
        long nanos = extent(child, states);
        if (nanos > 0) {
          if (children.size == weights.length) {
            weights = Arrays.copyOf(weights, 2 * children.size);
          }
          weights[children.size] = nanos;
          children.add(child);
          sum += nanos;
        }
      }
      // A window may begin between what was seen and its correction: then children are more than
      // their parent.
      boolean over = whole && sum > weight;
      double scale = over ? (double) weight / sum : 1;
      wide.clear();
      for (int i = 0; i < children.size; i++) {
        long nanos = over ? (long) (weights[i] * scale) : weights[i];
        if ((double) nanos * query.columns() * 8 < zoomWeight) {
          slice.hiddenWeight[index] += nanos;
          slice.hiddenCount[index]++;
        } else {
          wide.add(new Child(children.items[i], nanos));
        }
      }
      wide.sort((a, b) -> compare(b.node, a.node));
      for (Child child : wide) {
        int at = dueNode.size;
        if (at == dueWeight.length) {
          dueWeight = Arrays.copyOf(dueWeight, 2 * at);
        }
        dueNode.add(child.node);
        dueParent.add(index);
        dueLevel.add(level + 1);
        dueWeight[at] = child.weight;
      }
    }
    return slice.build(zoomIndex);
  }

  private record Child(int node, long weight) {}
}
