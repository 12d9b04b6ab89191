package flametop.profile.file;

import flametop.array.IntColumn;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.Finds;
import flametop.profile.tree.Functions;
import flametop.profile.tree.Matches;
import flametop.profile.tree.TreeReader;
import java.util.BitSet;
import java.util.regex.Pattern;

/**
 * Where a tree that is turned round matches a pattern: what that weighs follows from its stacks,
 * and the nodes that lead to matches are opened until as many are found as are listed.
 */
final class ReversedFinds extends Finds {
  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final ReversedTree tree;
  private final Functions functions;
  private final Matches matches = new Matches();
  private Pattern pattern;
  private ReversedTree.Marks marks;

  ReversedFinds(ReversedTree tree, Functions functions) {
    super(tree, functions);
    this.tree = tree;
    this.functions = functions;
  }

  @Override
  public Snapshot.Search search(Pattern wanted, StateSet states, TreeReader reader) {
    if (!Matches.same(pattern, wanted)) {
      matches.use(wanted, functions.functions());
      BitSet is = new BitSet();
      for (int function = 0; function < functions.functions(); function++) {
        is.set(function, matches.matches(functions, function));
      }
      marks = tree.mark(is);
      pattern = wanted;
    }
    boolean more = open();
    Snapshot.Search found = super.search(wanted, states, reader);
    long weight = Math.min(marks.weight, reader.total(states));
    return new Snapshot.Search(wanted, weight, found.nodes(), found.count(), more);
  }

  /**
   * Opens what leads to matches.
   *
   * @return whether there are more than those in what is opened now
   */
  private boolean open() {
    boolean more = false;
    int found = 0;
    IntColumn due = new IntColumn();
    due.add(ROOT);
    while (due.size > 0) {
      if (found > Finds.MAX_LISTED) {
        return true;
      }
      int node = due.pop();
      found += matches.matches(functions, tree.function(node)) ? 1 : 0;
      if (!tree.isOpened(node) && marks.leads(node)) {
        tree.open(node, Double.POSITIVE_INFINITY, 1);
        more |= !tree.isOpened(node);
      }
      for (int c = tree.firstChild(node); tree.isOpened(node) && c != NONE; c = tree.sibling(c)) {
        due.add(c);
      }
    }
    return more;
  }
}
