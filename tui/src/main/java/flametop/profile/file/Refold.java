package flametop.profile.file;

import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.tree.Functions;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes all stacks of a file into the tree of a shape, in slices. Frames stay in their order while
 * stacks are folded, which never makes a tree that is larger than the file's; where the innermost
 * frame is to be first, that tree is turned round then.
 */
final class Refold {
  private final StackTree whole;
  private final Functions functions;
  private final int mostNodes;
  private final boolean turns;
  private final boolean grouped;

  /** Null: it is the tree of all stacks that is turned round. */
  private final StackFold forwards;

  private FoldedTree tree;
  private ReversedTree reversed;
  private ReversedTree next;
  private boolean folded;
  private long added;

  /**
   * @param shape not {@link Shape#PLAIN}
   * @param mostNodes that its trees may have; with more it {@link #overflows}
   */
  Refold(StackTree whole, Functions functions, Shape shape, int mostNodes) {
    this.whole = whole;
    this.functions = functions;
    this.mostNodes = mostNodes;
    turns = turns(shape);
    grouped = shape.group() != RootOrder.NONE && whole.isComm();
    Shape straight = turns ? turned(shape) : shape;
    forwards =
        straight.equals(Shape.PLAIN) ? null : new StackFold(whole, functions, straight, mostNodes);
    // Until it is done there is nothing.
    tree = turns ? new StackTree(whole) : forwards.tree();
    added = whole.added();
  }

  /** Whether what it makes of a stack begins with what is innermost. */
  private static boolean turns(Shape shape) {
    boolean turns = shape.reversed();
    for (Shape.Step step : shape.steps()) {
      turns ^= step instanceof Shape.Callers;
    }
    return turns;
  }

  /** The shape that makes the same paths, each the other way round. */
  private static Shape turned(Shape shape) {
    List<Shape.Step> steps = new ArrayList<>(shape.steps());
    return shape.reversed()
        ? shape.without(Shape.Reverse.class)
        : Shape.of(steps.toArray(new Shape.Step[0])).plus(new Shape.Reverse());
  }

  /** Begins anew; nodes that there are keep their numbers. */
  void begin() {
    added = whole.added();
    folded = false;
    next = null;
    if (forwards != null) {
      forwards.begin();
    }
  }

  /** It is not gone on with: it has to begin anew. */
  void leave() {
    added = -1;
    next = null;
    if (forwards != null) {
      forwards.leave();
    }
  }

  /** Whether there is more in what it folds than when it began. */
  boolean isBehind() {
    return added != whole.added();
  }

  /** There is no room for so many nodes. */
  boolean overflows() {
    return forwards != null && forwards.overflows() || reversed != null && reversed.overflows();
  }

  /** The tree, which is as it is to be after the last slice; another one then if it is turned. */
  FoldedTree tree() {
    return tree;
  }

  /** The tree if it is one that is opened where it is looked at; else null. */
  ReversedTree reversed() {
    return reversed;
  }

  /** How much is done, 0 to 1. */
  double share() {
    double turned = next == null ? 0 : next.gathered();
    return forwards == null ? turned : turns ? (forwards.share() + turned) / 2 : forwards.share();
  }

  /**
   * Does some of it, until {@code deadline} ({@link System#nanoTime}).
   *
   * @return whether that was the last
   */
  boolean slice(long deadline) {
    if (!folded && forwards != null) {
      if (!forwards.slice(deadline)) {
        return false;
      }
      if (forwards.overflows()) {
        return true;
      }
      if (whole.isWhole() && !isBehind()) {
        forwards.tree().trim();
      }
    }
    folded = true;
    if (!turns) {
      return true;
    }
    if (next == null) {
      StackTree from = forwards == null ? whole : forwards.tree();
      next = new ReversedTree(from, functions, grouped, mostNodes, reversed);
    }
    if (!next.gather(deadline)) {
      return false;
    }
    reversed = next;
    tree = next;
    next = null;
    return true;
  }
}
