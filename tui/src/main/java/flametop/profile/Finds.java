package flametop.profile;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Where a call tree matches a pattern. Looks at each node once, so what a picture needs again and
 * again costs what matches, not what there is.
 */
final class Finds {
  private static final int MAX_LISTED = 4_096;
  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final CallTree tree;
  private final Functions functions;
  private final Matches matches = new Matches();
  private Pattern pattern;
  private int seen;
  private final BitSet matched = new BitSet();

  /** Nodes that match or have one above them that does. */
  private final BitSet covered = new BitSet();

  /** Nodes that match or have one below them that does. */
  private final BitSet leading = new BitSet();

  private final IntList found = new IntList();

  /** Of {@link #found} those without a match above. */
  private final IntList topmost = new IntList();

  Finds(CallTree tree, Functions functions) {
    this.tree = tree;
    this.functions = functions;
  }

  /** Numbers of functions may mean others from now on. */
  void forget() {
    matches.forget();
  }

  private void look(Pattern wanted) {
    if (pattern == null
        || !pattern.pattern().equals(wanted.pattern())
        || pattern.flags() != wanted.flags()) {
      matched.clear();
      covered.clear();
      leading.clear();
      found.clear();
      topmost.clear();
      seen = ROOT + 1;
    }
    pattern = wanted;
    matches.use(wanted, functions.functions());
    for (int nodes = tree.nodes(); seen < nodes; seen++) {
      boolean below = covered.get(tree.parent(seen));
      if (matches.matches(functions, tree.function(seen))) {
        matched.set(seen);
        covered.set(seen);
        found.add(seen);
        if (!below) {
          topmost.add(seen);
        }
        for (int node = seen; node != NONE && !leading.get(node); node = tree.parent(node)) {
          leading.set(node);
        }
      } else if (below) {
        covered.set(seen);
      }
    }
  }

  /** What matches in the whole tree and has time in these states. */
  Snapshot.Search search(Pattern wanted, StateSet states, TreeReader reader) {
    look(wanted);
    int bits = states.bits();
    int count = 0;
    for (int i = 0; i < found.size; i++) {
      count += tree.weight(found.items[i], bits) > 0 ? 1 : 0;
    }
    long weight = 0;
    for (int i = 0; i < topmost.size; i++) {
      weight += reader.weight(topmost.items[i], bits);
    }
    return new Snapshot.Search(
        wanted, Math.min(weight, reader.total(states)), listed(count, bits, reader), count);
  }

  /** The first of them in drawing order. */
  private long[] listed(int count, int states, TreeReader reader) {
    long[] numbers = new long[Math.min(count, MAX_LISTED)];
    int listed = 0;
    IntList due = new IntList();
    due.add(ROOT);
    List<Integer> next = new ArrayList<>();
    while (due.size > 0 && listed < numbers.length) {
      int node = due.items[--due.size];
      if (matched.get(node) && tree.weight(node, states) > 0) {
        numbers[listed++] = reader.number(node);
      }
      next.clear();
      for (int child = tree.firstChild(node); child != NONE; child = tree.sibling(child)) {
        if (leading.get(child)) {
          next.add(child);
        }
      }
      next.sort((a, b) -> reader.compare(b, a));
      for (int child : next) {
        due.add(child);
      }
    }
    return numbers;
  }
}
