package flametop.profile.file;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.tree.Shaper;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Folds the stacks of one tree into another by a shape, in slices. Stacks that are added meanwhile
 * may be missed, so all can be folded anew; nodes keep their numbers.
 *
 * <p>The stacks are taken in the order of a walk in depth: neighbouring stacks mostly begin alike,
 * shaped or not, and the nodes of the frames that they share are known from the stack before.
 */
final class StackFold {
  private static final int ROOT = 0;
  private static final int NONE = -1;

  /** Frames between two looks at the clock. */
  private static final int FRAMES = 1 << 14;

  private final StackTree from;
  private final OwnerNames owners;
  private final Shape shape;
  private final Shaper shaper;

  /** How many frames stay as they are above the shaped ones. */
  private final int above;

  private final int mostNodes;
  private final StackTree tree;

  /** How many frames of each stack are left out, from the outermost on. */
  private final int left;

  private int at;
  private int decimals;
  private boolean admitted;
  private final IntColumn path = new IntColumn();
  private final IntColumn stack = new IntColumn();
  private final IntColumn origins = new IntColumn();

  // The stack before, and its nodes.
  private final IntColumn last = new IntColumn();
  private final IntColumn nodes = new IntColumn();

  private LongColumn now = new LongColumn();
  private @Nullable LongColumn before;

  /** Begins a fold whose tree {@link #overflows} with more than so many nodes. */
  StackFold(StackTree from, StackNames names, Shape shape, int mostNodes) {
    this.from = from;
    owners = names.owners();
    this.shape = shape;
    this.mostNodes = mostNodes;
    shaper = new Shaper(shape, names);
    left = from.isComm() && shape.group() == RootOrder.NONE ? 1 : 0;
    above = from.isComm() && left == 0 ? 1 : 0;
    tree = new StackTree(from);
    begin();
  }

  /** Begins anew. */
  void begin() {
    at = ROOT;
    decimals = from.decimals();
    admitted = true;
    path.clear();
    now = new LongColumn();
    before = from.hasBaseline() ? new LongColumn() : null;
  }

  /** The tree, which has its amounts after the last slice. */
  StackTree tree() {
    return tree;
  }

  /** Which part is done, 0 to 1. */
  double share() {
    return at == NONE ? 1 : (double) at / from.nodes();
  }

  /** There is no room for so many nodes. */
  boolean overflows() {
    return tree.nodes() > mostNodes;
  }

  /**
   * Folds some stacks, until {@code deadline} ({@link System#nanoTime}).
   *
   * @return whether that was the last
   */
  boolean slice(long deadline) {
    if (decimals != from.decimals()) {
      begin();
    }
    int frames = 0;
    while (at != NONE && !overflows()) {
      long value = from.own(at, StackTree.NOW);
      long compared = before == null ? 0 : from.own(at, StackTree.BEFORE);
      if (admitted && (value != 0 || compared != 0)) {
        add(value, compared);
        frames += path.size;
      }
      advance();
      if (++frames >= FRAMES) {
        frames = 0;
        if (System.nanoTime() - deadline >= 0) {
          return false;
        }
      }
    }
    if (!overflows()) {
      tree.replace(now, before, decimals);
    }
    now = new LongColumn();
    before = null;
    return true;
  }

  private void add(long value, long compared) {
    stack.clear();
    stack.addAll(path, left);
    if (!shaper.shape(stack, above, origins)) {
      return;
    }
    int common = Arrays.mismatch(last.items, 0, last.size, stack.items, 0, stack.size);
    nodes.size = common < 0 ? stack.size : common;
    int node = nodes.size == 0 ? ROOT : nodes.items[nodes.size - 1];
    for (int i = nodes.size; i < stack.size; i++) {
      node = tree.grow(node, stack.items[i]);
      nodes.add(node);
    }
    last.clear();
    last.addAll(stack, 0);
    now.set(node, now.get(node) + value);
    if (before != null) {
      before.set(node, before.get(node) + compared);
    }
  }

  /** Goes to the next node, a parent before its children. */
  private void advance() {
    int child = admitted ? from.firstChild(at) : NONE;
    if (child != NONE) {
      enter(child);
      return;
    }
    while (at != ROOT) {
      int next = from.sibling(at);
      path.size--;
      if (next != NONE) {
        enter(next);
        return;
      }
      at = from.parent(at);
    }
    at = NONE;
  }

  private void enter(int node) {
    at = node;
    int function = from.function(node);
    if (path.size == 0) {
      admitted = owners.admits(shape, function);
      function = owners.grouped(shape.group(), function);
    }
    path.add(function);
  }
}
