package flametop.profile;

/** A call tree of folded stacks as it is shown. */
interface FoldedTree extends CallTree {
  /** Brings the sums up to date. */
  void sumUp();

  /** A number that is another one whenever the sums are, or what is below a node. */
  int changes();

  /** Keeps only the paths of its nodes. */
  void retire();

  /** Goes through the stacks that end in a node or below it, in no order. */
  Walk walk(int node);

  /** One stack after the other. */
  interface Walk {
    /** Goes to the next, the first at first; false if there is none. */
    boolean next();

    /** Functions of its frames, as they stand from the root on. Changes with the next. */
    IntList path();

    /** What ends there. */
    long now();

    /** What it is compared with; 0 if it is with nothing. */
    long before();
  }
}
