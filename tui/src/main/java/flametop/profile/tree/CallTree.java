package flametop.profile.tree;

/**
 * A tree of calls with the time spent in each. Node 0 is the root, a parent is below its children,
 * and of the children of a node no two have one function.
 */
public interface CallTree {
  int nodes();

  /** -1 for the root. */
  int parent(int node);

  /** One of its {@link Functions}. */
  int function(int node);

  /** -1 if there is none; no order. */
  int firstChild(int node);

  /** The next child of its parent, or -1. */
  int sibling(int node);

  /**
   * What is spent in it and below it.
   *
   * @param states bits of a {@code StateSet}
   */
  long weight(int node, int states);

  /** Whether it is known in which state and task the time was spent. */
  default boolean hasStates() {
    return true;
  }

  /** Whether it is compared with another: {@link #baseline} means something. */
  default boolean hasBaseline() {
    return false;
  }

  /** What the other has there, scaled to the same length of time. */
  default long baseline(int node, int states) {
    return 0;
  }

  /** What is spent in it and in nothing below it. */
  default long self(int node, int states) {
    long self = weight(node, states);
    for (int child = firstChild(node); child >= 0; child = sibling(child)) {
      self -= weight(child, states);
    }
    return self;
  }

  /** What was asked to be {@linkplain #open opened} and is not is no longer wanted. */
  default void look() {}

  /**
   * The children of a node are about to be read. Where they are not there yet they are made, at
   * once if they are few, else later, with those below that have a weight or baseline of at least
   * this.
   *
   * @param levels how many levels below the node are wanted
   */
  default void open(int node, double least, int levels) {}
}
