package flametop.profile.tree;

/** A tree of calls with the time spent in each. No two children of a node have one function. */
public interface CallTree extends Paths {
  /** The paths of the nodes as they are now. */
  Paths paths();

  /** The first child of a node, in no order; -1 if the node has no child. */
  int firstChild(int node);

  /** The next child of the same parent; -1 after the last. */
  int sibling(int node);

  /** The child of a node with a function, made first where that is due; -1 if there is none. */
  default int child(int node, int function) {
    int child = firstChild(node);
    while (child >= 0 && function(child) != function) {
      child = sibling(child);
    }
    return child;
  }

  /**
   * The time of a node and of all nodes below it.
   *
   * @param states bits of a {@code StateSet}
   */
  long weight(int node, int states);

  /** Whether all stacks left a node, so that the node is not drawn. */
  default boolean isEmptied(int node) {
    return false;
  }

  /** Whether a sample has found the frame of a node without unwind information. */
  default boolean isGuessed(int node) {
    return false;
  }

  /** Whether the tree knows in which state and in which task the time was spent. */
  default boolean hasStates() {
    return true;
  }

  /** Whether the tree is compared with another tree: {@link #baseline} means something. */
  default boolean hasBaseline() {
    return false;
  }

  /** The time that the other tree has at a node, scaled to the same length of time. */
  default long baseline(int node, int states) {
    return 0;
  }

  /** The time of a node without the time of the nodes below it. */
  default long self(int node, int states) {
    long self = weight(node, states);
    for (int child = firstChild(node); child >= 0; child = sibling(child)) {
      self -= weight(child, states);
    }
    return self;
  }

  /** Forgets pending {@linkplain #open requests for children}. */
  default void look() {}

  /**
   * Asks for the children of a node, which are about to be read. A tree that has not made them yet
   * makes them: at once if they are few, else later, together with those nodes below that have a
   * weight or baseline of at least {@code least}.
   *
   * @param levels how many levels below the node are wanted
   */
  default void open(int node, double least, int levels) {}
}
