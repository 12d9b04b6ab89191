package flametop.profile;

/**
 * A tree of calls with the time spent in each. Node 0 is the root, a parent is below its children,
 * and of the children of a node no two have one function.
 */
interface CallTree {
  int nodes();

  /** -1 for the root. */
  int parent(int node);

  /** One of its {@link Functions}. */
  int function(int node);

  /** -1 if there is none; no order. */
  int firstChild(int node);

  /** The next child of its parent, or -1. */
  int sibling(int node);

  /** Whether no stack passes through it any more: it is kept for its number. */
  boolean isEmpty(int node);

  /**
   * What is spent in it and below it.
   *
   * @param states bits of a {@link StateSet}
   */
  long weight(int node, int states);

  /** Whether there is something that its weights are compared with. */
  default boolean compared() {
    return false;
  }

  /** What {@link #weight} is compared with, in the same unit and of the same total. */
  default long before(int node, int states) {
    return 0;
  }
}
