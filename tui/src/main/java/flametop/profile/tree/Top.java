package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Sums a call tree up by function. Knows the tree by its nodes, so it is for one tree that grows.
 */
public final class Top {
  private static final int ROOT = 0;
  private static final int NONE = -1;

  /** Levels that most nodes are below. */
  private static final int STEPS = 64;

  private static final int STATES = State.values().length;

  private final CallTree tree;
  private final Functions functions;
  private final Matches matches;

  /** Nodes with a node of the same function above them: what is in them is counted there. */
  private final BitSet repeated = new BitSet();

  private int seen;

  public Top(CallTree tree, Functions functions) {
    this.tree = tree;
    this.functions = functions;
    matches = new Matches(functions);
  }

  /**
   * Its functions.
   *
   * @param noise what is no change, if the tree is compared
   */
  public TopReport report(TopQuery query, Noise noise) {
    look();
    int states = query.states().bits();
    Sums now = sums(node -> tree.weight(node, states));
    long[] self = now.self;
    long[] total = now.total;
    boolean compared = tree.hasBaseline();
    Sums then = compared ? sums(node -> tree.baseline(node, states)) : new Sums(0);
    long[] selfBefore = then.self;
    long[] totalBefore = then.total;
    long whole = Math.max(0, tree.weight(ROOT, states));
    whole = compared ? Math.max(whole, tree.baseline(ROOT, states)) : whole;
    if (query.search() != null) {
      matches.forget();
      matches.use(query.search());
    }
    int all = 0;
    IntColumn found = new IntColumn();
    for (int f = 0; f < self.length; f++) {
      boolean was = compared && totalBefore[f] > 0 && isCode(f, selfBefore[f]);
      if (was || total[f] > 0 && isCode(f, self[f])) {
        all++;
        if (query.search() == null || matches.test(f)) {
          found.add(f);
        }
      }
    }
    TopReport.Before[] before = new TopReport.Before[self.length];
    for (int i = 0; compared && i < found.size; i++) {
      int f = found.items[i];
      self[f] = Math.max(0, self[f]);
      total[f] = Math.max(0, total[f]);
      before[f] =
          new TopReport.Before(
              Math.max(0, selfBefore[f]),
              Math.max(0, totalBefore[f]),
              noise.change(self[f], Math.max(0, selfBefore[f]), whole),
              noise.change(total[f], Math.max(0, totalBefore[f]), whole));
    }
    TopQuery.Order order = query.order().in(compared, tree.hasStates());
    long[] by = by(order, self, total, before);
    long[] second = order == TopQuery.Order.CPU ? self : total;
    int[] first = first(found, by, second, query.rows(), query.to());
    long[][] selfByState = new long[self.length][];
    long[][] totalByState = new long[self.length][];
    split(first, selfByState, totalByState);
    BitSet guessed = guessed();
    List<TopReport.Row> rows = new ArrayList<>(first.length);
    for (int f : first) {
      rows.add(
          new TopReport.Row(
              new Function(functions.kind(f), functions.module(f), functions.name(f)),
              Math.max(0, self[f]),
              total[f],
              selfByState[f],
              totalByState[f],
              guessed.get(f),
              before[f]));
    }
    return new TopReport(List.copyOf(rows), found.size, all, whole);
  }

  /** Amounts by function: in the function itself, and in all that it calls too. */
  private record Sums(long[] self, long[] total) {
    Sums(int functions) {
      this(new long[functions], new long[functions]);
    }
  }

  private Sums sums(IntToLongFunction amounts) {
    Sums sums = new Sums(functions.functions());
    for (int node = 0; node < seen; node++) {
      long amount = amounts.applyAsLong(node);
      if (amount != 0) {
        int function = tree.function(node);
        sums.total[function] += repeated.get(node) ? 0 : amount;
        sums.self[function] += amount;
        if (node != ROOT) {
          sums.self[tree.function(tree.parent(node))] -= amount;
        }
      }
    }
    return sums;
  }

  /**
   * Tasks are no functions; what stands for the missing part of a stack is. Where tasks are not
   * known, an outermost frame that has time of its own is code.
   */
  private boolean isCode(int function, long self) {
    NodeKind kind = functions.kind(function);
    return kind != NodeKind.ROOT
        && (!kind.isOwner() || kind == NodeKind.PROCESS && !tree.hasStates() && self > 0);
  }

  /** The number by which functions are ordered, the most first; null: their names order them. */
  private long @Nullable [] by(
      TopQuery.Order order, long[] self, long[] total, TopReport.Before[] before) {
    if (order.isOfChange()) {
      return byChange(order == TopQuery.Order.SELF_CHANGE, self, total, before);
    }
    StateSet states = order == TopQuery.Order.CPU ? StateSet.of(State.RUN) : order.states();
    if (states != null) {
      Sums sums = sums(node -> tree.weight(node, states.bits()));
      return order == TopQuery.Order.CPU ? sums.self : sums.total;
    }
    return order == TopQuery.Order.SELF ? self : order == TopQuery.Order.TOTAL ? total : null;
  }

  /** How much more or less it is; what is no change is last. */
  private static long[] byChange(
      boolean ofSelf, long[] self, long[] total, TopReport.Before[] before) {
    long[] by = new long[self.length];
    for (int f = 0; f < by.length; f++) {
      TopReport.Before b = before[f];
      if (b != null && (ofSelf ? b.selfChange() : b.totalChange()) != 0) {
        by[f] = Math.abs(ofSelf ? self[f] - b.self() : total[f] - b.total());
      }
    }
    return by;
  }

  private int[] first(
      IntColumn of, long @Nullable [] by, long[] then, int most, @Nullable Function to) {
    of.sort(
        0,
        (a, b) -> {
          int first = by == null ? 0 : Long.compare(by[b], by[a]);
          int second = first != 0 || by == null ? first : Long.compare(then[b], then[a]);
          return second != 0 ? second : functions.name(a).compareTo(functions.name(b));
        });
    int enough = most;
    for (int i = most; to != null && i < of.size; i++) {
      if (functions.is(of.items[i], to)) {
        enough = i + 1;
        break;
      }
    }
    return Arrays.copyOf(of.items, Math.min(enough, of.size));
  }

  /** The functions that have a node which a walk guessed. */
  private BitSet guessed() {
    BitSet guessed = new BitSet();
    for (int node = 0; node < seen; node++) {
      if (tree.isGuessed(node)) {
        guessed.set(tree.function(node));
      }
    }
    return guessed;
  }

  private void split(int[] rows, long[][] self, long[][] total) {
    for (int f : rows) {
      self[f] = new long[STATES];
      total[f] = new long[STATES];
    }
    if (!tree.hasStates()) {
      return;
    }
    for (int node = 0; node < seen; node++) {
      long[] itsSelf = self[tree.function(node)];
      long[] itsTotal = repeated.get(node) ? null : total[tree.function(node)];
      int parent = tree.parent(node);
      long[] above = parent == NONE ? null : self[tree.function(parent)];
      for (int state = 0; (itsSelf != null || above != null) && state < STATES; state++) {
        long amount = tree.weight(node, 1 << state);
        if (itsSelf != null) {
          itsSelf[state] += amount;
        }
        if (itsTotal != null) {
          itsTotal[state] += amount;
        }
        if (above != null) {
          above[state] -= amount;
        }
      }
    }
  }

  /** Takes in the nodes that came since the last time. */
  private void look() {
    int nodes = tree.nodes();
    // A walk to the root is short, but for trees so deep that a walk through all of it is shorter.
    long steps = STEPS * (long) nodes;
    while (seen < nodes && steps > 0) {
      int function = tree.function(seen);
      int above = tree.parent(seen);
      for (; above != NONE && tree.function(above) != function; steps--) {
        above = tree.parent(above);
      }
      if (above != NONE) {
        repeated.set(seen);
      }
      seen++;
    }
    if (seen < nodes) {
      lookAtAll();
      seen = nodes;
    }
  }

  private void lookAtAll() {
    int[] open = new int[functions.functions()];
    int node = ROOT;
    while (true) {
      if (open[tree.function(node)]++ > 0) {
        repeated.set(node);
      }
      int next = tree.firstChild(node);
      while (next == NONE) {
        open[tree.function(node)]--;
        if (node == ROOT) {
          return;
        }
        next = tree.sibling(node);
        if (next == NONE) {
          node = tree.parent(node);
        }
      }
      node = next;
    }
  }
}
