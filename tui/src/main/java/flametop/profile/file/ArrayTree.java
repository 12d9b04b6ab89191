package flametop.profile.file;

import flametop.array.LongColumn;
import flametop.profile.answer.Shape;
import flametop.profile.tree.CallTree;
import flametop.profile.tree.HeldStacks;
import flametop.profile.tree.Nodes;
import java.util.List;

/** A folded tree in columns by node. */
abstract class ArrayTree extends Nodes implements CallTree {
  /** The amount in each node and below the node. */
  LongColumn sum = new LongColumn();

  /** Another number whenever the sums are others, or what is below a node. */
  int changes;

  /** A tree that has only its root. */
  ArrayTree() {
    super(StackNames.root());
    sum.zero(1);
  }

  /** Brings the sums up to date. */
  void sumUp() {}

  /** How many parts of a weight make one unit of the file. */
  abstract long parts();

  /**
   * The stacks that end in a node or below it.
   *
   * @param shape of the tree
   * @param zoom names of the frames down to the node
   */
  abstract HeldStacks held(int node, StackNames names, Shape shape, List<String> zoom);

  /**
   * The child with a function, opened at once. Right below the root, a function and a comm of one
   * name count as one: what is outermost may have been a comm, or may be one since.
   */
  @Override
  public int child(int node, int function) {
    open(node, Double.POSITIVE_INFINITY, 1);
    int outermost = node == ROOT ? 1 : 0;
    int child = firstChild(node);
    while (child != NONE && (function(child) | outermost) != (function | outermost)) {
      child = sibling(child);
    }
    return child;
  }

  @Override
  public final long weight(int node, int states) {
    return sum.get(node);
  }

  @Override
  public final boolean hasStates() {
    return false;
  }
}
