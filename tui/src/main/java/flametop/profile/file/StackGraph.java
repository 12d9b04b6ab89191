package flametop.profile.file;

import flametop.array.IntColumn;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.Finds;
import flametop.profile.tree.GraphPicture;
import flametop.profile.tree.Matches;
import flametop.profile.tree.NodeFinder;
import flametop.profile.tree.NodePath;
import flametop.profile.tree.Noise;
import flametop.profile.tree.ShownGraph;
import flametop.profile.tree.SiblingOrder;
import flametop.profile.tree.Top;
import flametop.profile.tree.TreeReader;
import flametop.profile.tree.Worker;
import flametop.sampler.State;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A graph of a file as it is shown: the tree of its shape, and while it takes another shape, the
 * fold of that beside it, which goes on in slices. Without a shape it is the tree of all stacks.
 */
public final class StackGraph extends ShownGraph<StackGraph.Shaped> implements GraphPicture.Reader {
  /** What a node of a tree costs, at most. */
  private static final int NODE_BYTES = 64;

  /** While a file is read, one part in so many of the time is for folding it anew. */
  private static final int PATIENCE = 4;

  private static final int ROOT = 0;

  /**
   * How many trees that were shown before are kept for the numbers of their nodes: to the callers,
   * to the functions, to the callers again and back, and one shape more.
   */
  private static final int MOST_RETIRED = 5;

  /** A tree, and the shape that it has. */
  public record Shaped(FoldedTree tree, Shape shape) {}

  private final StackTree whole;
  private final StackNames names;
  private final Matches matches = new Matches();

  /** What made the tree that is shown; null: it is that of all stacks. */
  private Refold fold;

  private TreeReader reader;
  private Finds finds;
  private ReversedFinds reversedFinds;
  private Top top;
  private NodeFinder finder;

  private Shape nextShape;
  private Refold next;
  private long began;
  private long patient;

  /** A shape that there was no memory for; null if there was. */
  private Shape refused;

  /**
   * @param epochs a new one at each call: upper half of the numbers of the nodes of a tree
   */
  StackGraph(StackTree whole, StackNames names, IntSupplier epochs, Shape shape) {
    this(
        whole,
        names,
        epochs,
        shape,
        shape.equals(Shape.PLAIN) ? null : new Refold(whole, names, shape, mostNodes()));
  }

  private StackGraph(
      StackTree whole, StackNames names, IntSupplier epochs, Shape shape, @Nullable Refold first) {
    super(epochs, MOST_RETIRED, shaped(whole, first, shape));
    this.whole = whole;
    this.names = names;
    fold = first;
    read();
    if (first != null) {
      // It is empty until it is done.
      begin(first, shape);
      slice();
    }
  }

  private static Shaped shaped(StackTree whole, @Nullable Refold of, Shape shape) {
    return new Shaped(of == null ? whole : of.tree(), shape);
  }

  private void read() {
    FoldedTree tree = shown().tree();
    reader = new TreeReader(tree, names, new SiblingOrder(), epoch());
    finds = new Finds(tree, names);
    reversedFinds = reversed() == null ? null : new ReversedFinds(reversed(), names, finds);
    top = new Top(tree, names);
    finder = new NodeFinder(tree, names, shown().shape());
  }

  /** The shape that it has, or is about to have. */
  Shape shape() {
    return next != null ? nextShape : shown().shape();
  }

  /** Folds all stacks into a shape, beside what is shown. */
  @Override
  public void shape(Shape wanted) {
    if (shape().equals(wanted) || wanted.equals(refused)) {
      return;
    }
    refused = null;
    if (next != null) {
      next.leave();
      next = null;
    }
    if (wanted.equals(shown().shape())) {
      return;
    }
    if (wanted.equals(Shape.PLAIN)) {
      replace(null, wanted);
    } else {
      begin(new Refold(whole, names, wanted, mostNodes()), wanted);
      // That of a small file is there at once.
      slice();
    }
  }

  private static int mostNodes() {
    Runtime runtime = Runtime.getRuntime();
    long free = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
    return (int) Math.min(Integer.MAX_VALUE / 2, free / 2 / NODE_BYTES);
  }

  /** The tree that is shown, if it is one that is opened where it is looked at; else null. */
  private ReversedTree reversed() {
    return fold == null ? null : fold.reversed();
  }

  private void begin(Refold folded, Shape wanted) {
    next = folded;
    nextShape = wanted;
    began = System.nanoTime();
  }

  /** A question comes. */
  private void refill() {
    if (reversed() != null) {
      reversed().refill();
    }
  }

  /** Whether it is still the graph of another shape, or something of it is still to come. */
  boolean refolding() {
    return next != null && next != fold || opens();
  }

  /** Whether it is that of callers. */
  boolean isReversed() {
    return shown().shape().reversed();
  }

  @Override
  public boolean isBehind() {
    return next != null || opens();
  }

  private boolean opens() {
    return reversed() != null && reversed().isDue();
  }

  /** How much of what it is to be is there, 0 to 1. */
  double share() {
    return next != null ? next.share() : reversed() == null ? 1 : reversed().share();
  }

  /** A shape that there is no memory for, all of it or what is asked for; else null. */
  Shape refused() {
    return refused == null && reversed() != null && reversed().overflows()
        ? shown().shape()
        : refused;
  }

  /** Whether {@link #slice} has something to do. */
  boolean due() {
    if (next != null || opens()) {
      return true;
    }
    if (fold == null || !fold.isBehind() || !whole.isWhole() && System.nanoTime() - patient < 0) {
      return false;
    }
    fold.begin();
    begin(fold, shown().shape());
    return true;
  }

  /** Does some of what is due. */
  void slice() {
    slice(System.nanoTime() + Worker.SLICE_NANOS);
  }

  private void slice(long deadline) {
    if (next == null) {
      reversed().work(deadline);
      return;
    }
    if (!next.slice(deadline)) {
      return;
    }
    Refold folded = next;
    next = null;
    if (folded.overflows()) {
      refused = nextShape;
      return;
    }
    long end = System.nanoTime();
    patient = end + PATIENCE * (end - began);
    if (folded != fold) {
      replace(folded, nextShape);
    } else if (folded.tree() != shown().tree()) {
      renew(new Shaped(folded.tree(), nextShape));
      read();
    }
  }

  /** What the outermost frames are is another thing from now on. */
  void flipped() {
    Shape wanted = shape();
    if (next != null) {
      next.leave();
      next = null;
    }
    replace(null, Shape.PLAIN);
    shape(wanted);
  }

  private void replace(Refold with, Shape of) {
    if (fold != null) {
      fold.tree().retire();
    }
    fold = with;
    show(shaped(whole, with, of));
    read();
  }

  /** Whether it has the shape that it is to have, of all that was read when it last took it. */
  boolean isShaped() {
    return next == null;
  }

  /** The stacks that end in a node or below it. */
  HeldStacks held(long node) {
    FoldedTree tree = stacks();
    int top = resolve(node);
    List<String> zoom = List.of(reader.path(top));
    return tree.held(top, names).of(shown().shape(), zoom.subList(1, zoom.size()));
  }

  /** The stacks that are shown, their sums up to date. */
  FoldedTree stacks() {
    FoldedTree tree = shown().tree();
    tree.sumUp();
    return tree;
  }

  /** How many of its weights make one of what the file counts. */
  long parts() {
    return shown().tree().parts();
  }

  /** Names of the outermost frames, with what is below them, whatever the shape. */
  TreeReader all() {
    whole.sumUp();
    return new TreeReader(whole, names, new SiblingOrder(), 0);
  }

  /** Reads what is shown. */
  TreeReader reader() {
    stacks();
    return reader;
  }

  /** What a query asks of it; made anew only as far as something has changed. */
  GraphPicture picture(GraphQuery query) {
    refill();
    return picture(query, stacks().changes(), this, matches);
  }

  /**
   * Its functions; made anew only if something has changed. Null while it is still that of callers:
   * there a function's own part is not below it.
   */
  TopReport top(TopQuery query) {
    return isReversed() ? null : top(query, Noise.NONE, stacks().changes(), top);
  }

  /** What finds a node of this graph in that of another file. */
  NodePath path(long number, NodePath.Of graph) {
    FoldedTree of = treeOf(number).tree();
    int depth = of.depth((int) number);
    byte[][] path = new byte[depth][];
    boolean[] outermost = new boolean[depth];
    for (int n = (int) number; n != ROOT; n = of.parent(n)) {
      path[--depth] = names.text(of.function(n));
      outermost[depth] = StackNames.isOutermost(of.function(n));
    }
    return new NodePath(number, graph, path, outermost);
  }

  /** Number of the node with the path of one of another file, or with as much of it as there is. */
  long find(NodePath path) {
    IntColumn functions = new IntColumn();
    for (int i = 0; i < path.names().length; i++) {
      int function = names.find(path.names()[i], path.outermost()[i]);
      functions.add(
          function < 0 || i > 0 ? function : StackNames.function(function >> 1, isOutermost()));
    }
    refill();
    return reader.number(finder.descend(ROOT, functions, 0));
  }

  /** Whether below the root there are comms. */
  private boolean isOutermost() {
    return whole.isComm() && shown().shape().group() != RootOrder.NONE;
  }

  @Override
  public int nodes(Shaped of) {
    return of.tree().nodes();
  }

  @Override
  public int find(Shaped of, int node) {
    if (of.tree() != shown().tree()) {
      return finder.find(of.tree(), of.shape(), node);
    }
    if (reversed() != null) {
      reversed().reach(node);
    }
    return node;
  }

  @Override
  public TreeReader tree() {
    return reader;
  }

  @Override
  public Snapshot.Search search(Pattern pattern, StateSet states) {
    return reversedFinds == null
        ? finds.search(pattern, states, reader)
        : reversedFinds.search(pattern, states, reader);
  }

  @Override
  public Selection selection(int node, StateSet states, long budget) {
    FoldedTree tree = shown().tree();
    int of = tree.function(node);
    Function function = new Function(names.kind(of), names.module(of), reader.name(node));
    return new Selection(
        reader.number(node),
        reader.path(node),
        function.kind(),
        function.module(),
        false,
        0,
        0,
        "",
        filter(function),
        reader.weight(node, states.bits()),
        reader.self(node, states.bits()),
        new long[State.values().length],
        null,
        null);
  }

  /** What narrows the graph to stacks with it; null of the root. */
  private static Shape.Filter filter(Function function) {
    return switch (function.kind()) {
      case ROOT -> null;
      case PROCESS -> new Shape.Comms(Set.of(function.name()), false);
      default -> new Shape.Through(function, false);
    };
  }
}
