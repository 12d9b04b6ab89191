package flametop.profile.tree;

import flametop.profile.answer.Shape;

/**
 * Stacks with their amounts, in one measure, which can be folded into the tree of any shape: the
 * stacks of a log at the moment that is shown, or the stacks of a file.
 *
 * @param <F> the folds
 */
public interface Store<F extends Fold> {
  /** Begins a fold, which is shown when it is made. */
  F fold(Shape shape);

  /** Begins a fold that is shown while it is made. */
  default F first(Shape shape) {
    return fold(shape);
  }
}
