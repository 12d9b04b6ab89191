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
import org.jspecify.annotations.Nullable;

/**
 * Where a tree that is turned round matches a pattern: what that weighs follows from its stacks,
 * and the nodes that lead to matches are opened until as many are found as are listed.
 */
final class ReversedFinds extends Finds {
  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final ReversedTree tree;
  private final Functions functions;
  private final Matches matches;
  private @Nullable Pattern pattern;
  private ReversedTree.@Nullable Marks marks;

  ReversedFinds(ReversedTree tree, Functions functions) {
    super(tree, functions);
    this.tree = tree;
    this.functions = functions;
    matches = new Matches(functions);
  }

  @Override
  public Snapshot.Search search(Pattern wanted, StateSet states, TreeReader reader) {
    ReversedTree.Marks its = marks;
    if (its == null || !Matches.same(pattern, wanted)) {
      matches.use(wanted);
      BitSet is = new BitSet();
      for (int function = 0; function < functions.functions(); function++) {
        is.set(function, matches.test(function));
      }
      its = tree.new Marks(is);
      marks = its;
      pattern = wanted;
    }
    boolean more = open(its);
    Snapshot.Search found = super.search(wanted, states, reader);
    long weight = Math.min(its.weight, reader.total(states));
    return new Snapshot.Search(wanted, weight, found.nodes(), found.count(), more);
  }

  /**
   * Opens what leads to matches.
   *
   * @return whether there are more than those in what is opened now
   */
  private boolean open(ReversedTree.Marks marks) {
    boolean more = false;
    int found = 0;
    IntColumn due = new IntColumn();
    due.add(ROOT);
    while (due.size > 0) {
      if (found > Finds.MAX_LISTED) {
        return true;
      }
      int node = due.pop();
      found += matches.test(tree.function(node)) ? 1 : 0;
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
