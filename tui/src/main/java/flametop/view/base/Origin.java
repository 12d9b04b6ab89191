package flametop.view.base;

/** Where what is shown comes from. */
public enum Origin {
  LIVE,
  /** A recorded stream that is replayed. */
  RECORDING,
  /** Folded stacks: a tree, and nothing beside it. */
  FILE
}
