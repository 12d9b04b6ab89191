package flametop.profile.file;

import flametop.profile.tree.CallTree;

/** A call tree of folded stacks as it is shown. */
public interface FoldedTree extends CallTree {
  /** Brings the sums up to date. */
  void sumUp();

  /** A number that is another one whenever the sums are, or what is below a node. */
  int changes();

  /** How many of its weights make one of what the file counts. */
  long parts();

  /** Keeps only the paths of its nodes. */
  void retire();

  /** The stacks that end in a node or below it. */
  HeldStacks held(int node, StackNames names);
}
