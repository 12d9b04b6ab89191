package flametop.profile.file;

import flametop.profile.answer.Function;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.Finds;
import flametop.profile.tree.Fold;
import flametop.profile.tree.HeldStacks;
import flametop.profile.tree.ShapedTree;
import flametop.profile.tree.TreeReader;
import flametop.profile.tree.Worker;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The stacks of a file, folded into the tree of one shape. Frames stay in their order while stacks
 * are folded, which never makes a tree that is larger than the file's; where the innermost frame is
 * to be first, that tree is turned round then. The plain shape is the file's tree itself, unless
 * the tree tells threads or states apart, which are one in that shape.
 *
 * <p>Stacks that are read after the fold was begun are missing in its tree. So the fold is made
 * anew then, and nodes keep their numbers.
 */
final class FileFold implements Fold {
  /** While a file is read, one part in so many of the time is for folding it anew. */
  private static final int PATIENCE = 4;

  private final StackTree whole;
  private final StackNames names;
  private final Shape shape;
  private final int epoch;
  private final int mostNodes;
  private final boolean turns;
  private final boolean grouped;

  /** Folds all stacks; null: the tree of all stacks is shown as it is, or turned round. */
  private final @Nullable StackFold forwards;

  private ArrayTree nodes;
  private ShapedTree tree;

  /** The tree if it is turned round; null: it is not, or there is none yet. */
  private @Nullable ReversedTree reversed;

  /** The tree that is being turned round; null if none is. */
  private @Nullable ReversedTree next;

  /** Whether the fold is being made. */
  private boolean folding;

  /** Whether all stacks are folded, and the tree is to be turned round at most. */
  private boolean folded;

  /** {@link StackTree#added} of all stacks, when the fold was begun. */
  private long added;

  private long began;
  private long patient;

  /** How often the trees before this one changed. */
  private long changes;

  /**
   * Begins a fold.
   *
   * @param epoch upper half of the numbers of the nodes
   * @param mostNodes that the trees may have; with more the fold {@link #overflows}
   */
  FileFold(StackTree whole, StackNames names, Shape shape, int epoch, int mostNodes) {
    this.whole = whole;
    this.names = names;
    this.shape = shape;
    this.epoch = epoch;
    this.mostNodes = mostNodes;
    turns = turns(shape);
    grouped = shape.group() != RootOrder.NONE && whole.isComm();
    Shape straight = turns ? turned(shape) : shape;
    boolean asItIs = straight.equals(Shape.PLAIN) && !names.owners().areDetailed();
    forwards = asItIs ? null : new StackFold(whole, names, straight, mostNodes);
    // Until it is turned round there is nothing.
    nodes = turns ? new StackTree(whole) : forwards != null ? forwards.tree() : whole;
    tree = new ShapedTree(nodes, names, shape, epoch, new Finds(nodes, names));
    if (!isPlain()) {
      begin();
      boolean unused = slice(began + Worker.SLICE_NANOS);
    }
  }

  /** Whether a shape puts innermost frames first. */
  private static boolean turns(Shape shape) {
    long callers = shape.steps().stream().filter(Shape.Callers.class::isInstance).count();
    return shape.reversed() != (callers % 2 != 0);
  }

  /** The shape that makes the same paths, each the other way round. */
  private static Shape turned(Shape shape) {
    return shape.reversed() ? shape.without(Shape.Reverse.class) : shape.plus(new Shape.Reverse());
  }

  private boolean isPlain() {
    return forwards == null && !turns;
  }

  private void begin() {
    began = System.nanoTime();
    added = whole.added();
    folding = true;
    folded = false;
    if (forwards != null) {
      forwards.begin();
    }
  }

  @Override
  public ShapedTree tree() {
    return tree;
  }

  /** The nodes of {@link #tree}. */
  ArrayTree nodes() {
    return nodes;
  }

  @Override
  public long changes() {
    return changes + nodes.changes;
  }

  @Override
  public void refresh(long deadline) {
    if (reversed != null) {
      reversed.refill();
    }
    nodes.sumUp();
  }

  @Override
  public boolean isDue() {
    return isBehind() || isAnewDue();
  }

  private boolean isAnewDue() {
    return !isPlain()
        && added != whole.added()
        && (whole.isWhole() || System.nanoTime() - patient >= 0);
  }

  @Override
  public boolean isBehind() {
    return folding || isOpening();
  }

  @Override
  public boolean isOpening() {
    return reversed != null && reversed.isDue();
  }

  /** Whether the fold has all that was read when it was last made. */
  boolean isMade() {
    return !folding;
  }

  @Override
  public double share() {
    if (!folding) {
      return reversed == null ? 1 : reversed.share();
    }
    double turned = next == null ? 0 : next.gathered();
    return forwards == null ? turned : turns ? (forwards.share() + turned) / 2 : forwards.share();
  }

  @Override
  public boolean overflows() {
    return forwards != null && forwards.overflows() || reversed != null && reversed.overflows();
  }

  @Override
  public boolean slice(long deadline) {
    if (!folding && reversed != null && reversed.isDue()) {
      reversed.work(deadline);
      return true;
    }
    if (!folding && isAnewDue()) {
      begin();
    }
    if (folding && make(deadline)) {
      folding = false;
      long end = System.nanoTime();
      patient = end + PATIENCE * (end - began);
    }
    return !folding;
  }

  /** Makes some of the fold; returns whether that was the last. */
  private boolean make(long deadline) {
    if (!folded && forwards != null) {
      if (!forwards.slice(deadline)) {
        return false;
      }
      if (forwards.overflows()) {
        return true;
      }
      if (whole.isWhole() && added == whole.added()) {
        forwards.tree().trim();
      }
    }
    folded = true;
    if (!turns) {
      return true;
    }
    if (next == null) {
      StackTree from = forwards == null ? whole : forwards.tree();
      next = new ReversedTree(from, names, grouped, mostNodes, reversed);
    }
    if (!next.gather(deadline)) {
      return false;
    }
    changes = changes() + 1;
    reversed = next;
    nodes = next;
    tree = new ShapedTree(next, names, shape, epoch, new ReversedFinds(next, names));
    next = null;
    return true;
  }

  @Override
  public Selection selection(int node, StateSet states, long budget) {
    TreeReader reader = tree.reader();
    int of = nodes.function(node);
    Function function = new Function(names.kind(of), names.module(of), reader.name(node));
    return new Selection(
        reader.number(node),
        reader.path(node),
        function.kind(),
        function.module(),
        filter(function, of),
        reader.weight(node, states.bits()),
        reader.self(node, states.bits()));
  }

  /** The filter that admits only stacks with a function; null of the root. */
  private Shape.@Nullable Filter filter(Function function, int number) {
    return switch (function.kind()) {
      case ROOT -> null;
      case PROCESS, THREAD, CGROUP -> names.owners().filter(number, function);
      default -> new Shape.Through(function, false);
    };
  }

  /** The stacks that end in a node or below it. */
  HeldStacks held(int node) {
    if (node == 0 && shape.equals(Shape.PLAIN)) {
      // Here each stack says whose it is.
      return whole.held(node, names, shape, List.of());
    }
    nodes.sumUp();
    List<String> zoom = List.of(tree.reader().path(node));
    return nodes.held(node, names, shape, zoom.subList(1, zoom.size()));
  }
}
