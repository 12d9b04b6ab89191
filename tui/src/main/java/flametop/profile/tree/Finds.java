package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import java.util.BitSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The places where a call tree matches a pattern. Each node is read once, and the nodes of each
 * function are known: another pattern costs as much as its matches, and so does each picture.
 */
public class Finds {
  public static final int MAX_LISTED = 4_096;

  /** So many are put in order; some may have no time where they are looked for. */
  private static final int MAX_ORDERED = 4 * MAX_LISTED;

  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final CallTree tree;
  private final Functions functions;
  private final Matches matches;

  /** The last pattern; null before the first. */
  private @Nullable Pattern pattern;

  /** The newest node of each function plus 1, and the node before each plus 1. */
  private final IntColumn newest = new IntColumn();

  private final IntColumn before = new IntColumn();
  private int indexed = ROOT + 1;

  private int seen;
  private final BitSet matched = new BitSet();

  /** Nodes that match or have one below them that does. */
  private final BitSet leading = new BitSet();

  private final IntColumn found = new IntColumn();

  /** The nodes of {@link #found} that have no match above them. */
  private final IntColumn topmost = new IntColumn();

  /** The first of {@link #found} in drawing order, when there were so many. */
  private final IntColumn ordered = new IntColumn();

  private int orderedOf = NONE;

  public Finds(CallTree tree, Functions functions) {
    this.tree = tree;
    this.functions = functions;
    matches = new Matches(functions);
  }

  /** Numbers of functions that no node has may mean others from now on. */
  public void forget() {
    matches.forget();
  }

  private void look(Pattern wanted) {
    index();
    matches.use(wanted);
    if (!Matches.same(pattern, wanted)) {
      matched.clear();
      leading.clear();
      found.clear();
      topmost.clear();
      orderedOf = NONE;
      for (int function = 0; function < functions.functions(); function++) {
        if (newest.get(function) != 0 && matches.test(function)) {
          for (int node = newest.get(function) - 1; node >= 0; node = before.get(node) - 1) {
            found.add(node);
            matched.set(node);
          }
        }
      }
      for (int i = 0; i < found.size; i++) {
        place(found.items[i]);
      }
      seen = tree.nodes();
    }
    pattern = wanted;
    for (int nodes = tree.nodes(); seen < nodes; seen++) {
      if (matches.test(tree.function(seen))) {
        matched.set(seen);
        found.add(seen);
        place(seen);
      }
    }
  }

  private void place(int node) {
    int above = tree.parent(node);
    while (above != NONE && !matched.get(above)) {
      above = tree.parent(above);
    }
    if (above == NONE) {
      topmost.add(node);
    }
    for (int n = node; n != NONE && !leading.get(n); n = tree.parent(n)) {
      leading.set(n);
    }
  }

  private void index() {
    for (int nodes = tree.nodes(); indexed < nodes; indexed++) {
      int function = tree.function(indexed);
      before.set(indexed, newest.get(function));
      newest.set(function, indexed + 1);
    }
  }

  /**
   * The nodes of the whole tree that match and have time in these states, or had time in the
   * baseline.
   */
  public Snapshot.Search search(Pattern wanted, StateSet states, TreeReader reader) {
    look(wanted);
    if (orderedOf != found.size) {
      order(reader);
      orderedOf = found.size;
    }
    int bits = states.bits();
    int count = 0;
    for (int i = 0; i < found.size; i++) {
      count += reader.extent(found.items[i], bits) > 0 ? 1 : 0;
    }
    long weight = 0;
    for (int i = 0; i < topmost.size; i++) {
      weight += reader.weight(topmost.items[i], bits);
    }
    LongColumn nodes = new LongColumn();
    for (int i = 0; i < ordered.size && nodes.size < MAX_LISTED; i++) {
      if (reader.extent(ordered.items[i], bits) > 0) {
        nodes.add(reader.number(ordered.items[i]));
      }
    }
    return new Snapshot.Search(
        wanted, Math.min(weight, reader.total(states)), nodes.toArray(), count, false);
  }

  private void order(TreeReader reader) {
    ordered.clear();
    IntColumn due = new IntColumn();
    due.add(ROOT);
    while (due.size > 0 && ordered.size < MAX_ORDERED) {
      int node = due.pop();
      if (matched.get(node)) {
        ordered.add(node);
      }
      int first = due.size;
      for (int child = tree.firstChild(node); child != NONE; child = tree.sibling(child)) {
        if (leading.get(child)) {
          due.add(child);
        }
      }
      // The first in drawing order is taken first.
      due.sort(first, (a, b) -> reader.compare(b, a));
    }
  }
}
