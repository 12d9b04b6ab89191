package flametop.profile.tree;

import flametop.profile.answer.Selection;
import flametop.profile.answer.StateSet;

/**
 * The stacks of a {@link Store}, folded into the tree of one shape. A fold is made in slices, and
 * follows its store then.
 */
public interface Fold {
  /** The tree; a fold may put its nodes, with the numbers that they have, into another one. */
  ShapedTree tree();

  /** Another number, of 48 bits, whenever the tree or an amount in it may be another. */
  long changes();

  /**
   * Brings the fold up to date for a question, as far as {@code deadline} ({@link System#nanoTime})
   * allows.
   */
  void refresh(long deadline);

  /** Whether there is work for {@link #slice}. */
  boolean isDue();

  /**
   * Does some of the work, until {@code deadline} ({@link System#nanoTime}).
   *
   * @return whether the fold can be shown
   */
  boolean slice(long deadline);

  /** Whether stacks or nodes are missing that will be there. */
  boolean isBehind();

  /** Whether nodes are missing that somebody asked for, while all stacks are there. */
  default boolean isOpening() {
    return false;
  }

  /** Whether the store cannot be followed any more: only another fold shows what it has. */
  default boolean isOutdated() {
    return false;
  }

  /** Whether there is no memory for so many nodes. */
  default boolean overflows() {
    return false;
  }

  /** How much of the fold is made, 0 to 1. */
  default double share() {
    return 1;
  }

  /**
   * A node in full.
   *
   * @param budget ns for what may take long; 0: that is left out
   */
  Selection selection(int node, StateSet states, long budget);

  /** The fold is not shown any more, nor will be: it follows the store no more. */
  default void close() {}
}
