package flametop.profile;

import flametop.sampler.State;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;

/**
 * A graph of a file as it is shown: the tree of its shape, and while it takes another shape, the
 * fold of that beside it, which goes on in slices. Without a shape it is the tree of all stacks.
 */
final class StackGraph implements GraphPicture.Reader {
  /** A question waits so long at most, ns. */
  private static final long SLICE_NANOS = 5_000_000;

  /** What a node of a tree costs, at most. */
  private static final int NODE_BYTES = 64;

  /** While a file is read, one part in so many of the time is for folding it anew. */
  private static final int PATIENCE = 4;

  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final StackTree whole;
  private final StackNames names;
  private final IntSupplier epochs;
  private final Matches matches = new Matches();

  private Shape shape;

  /** What made the tree that is shown; null: it is that of all stacks. */
  private Refold fold;

  private FoldedTree tree;
  private int epoch;
  private TreeReader reader;
  private Finds finds;
  private ReversedFinds reversedFinds;
  private Top top;

  private Shape nextShape;
  private Refold next;
  private long began;
  private long patient;

  private FoldedTree previous;
  private int previousEpoch;

  private GraphPicture picture;
  private TopReport report;
  private TopQuery reported;
  private int reportedOf;

  /** A shape that there was no memory for; null if there was. */
  private Shape refused;

  /**
   * @param epochs a new one at each call: upper half of the numbers of the nodes of a tree
   */
  StackGraph(StackTree whole, StackNames names, IntSupplier epochs, Shape shape) {
    this.whole = whole;
    this.names = names;
    this.epochs = epochs;
    this.shape = shape;
    if (shape.equals(Shape.PLAIN)) {
      show(null);
    } else {
      // It is empty until it is done.
      begin(new Refold(whole, names, shape, mostNodes()), shape);
      show(next);
      slice();
    }
  }

  private void show(Refold of) {
    fold = of;
    epoch = epochs.getAsInt();
    read();
  }

  private void read() {
    tree = fold == null ? whole : fold.tree();
    reader = new TreeReader(tree, names, new SiblingOrder(), epoch);
    finds = new Finds(tree, names);
    reversedFinds = reversed() == null ? null : new ReversedFinds(reversed(), names, finds);
    top = new Top(tree, names);
    picture = null;
    report = null;
  }

  /** The shape that it has, or is about to have. */
  Shape shape() {
    return next != null ? nextShape : shape;
  }

  /** Folds all stacks into a shape, beside what is shown. */
  void shape(Shape wanted) {
    if (shape().equals(wanted) || wanted.equals(refused)) {
      return;
    }
    refused = null;
    if (next != null) {
      next.leave();
      next = null;
    }
    if (wanted.equals(shape)) {
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

  /** Whether it is not yet what it is to be. */
  boolean isBehind() {
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
    return refused == null && reversed() != null && reversed().overflows() ? shape : refused;
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
    begin(fold, shape);
    return true;
  }

  /** Does some of what is due. */
  void slice() {
    slice(System.nanoTime() + SLICE_NANOS);
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
    } else if (folded.tree() != tree) {
      read();
    }
  }

  private void replace(Refold with, Shape of) {
    previous = tree;
    previousEpoch = epoch;
    if (fold != null) {
      previous.retire();
    }
    shape = of;
    show(with);
  }

  /** Takes the shape that it is to take, however long that takes. */
  void finish() {
    while (next != null) {
      slice(System.nanoTime() + Long.MAX_VALUE / 2);
    }
  }

  /** The stacks that are shown, their sums up to date. */
  FoldedTree stacks() {
    tree.sumUp();
    return tree;
  }

  /** Names of the outermost frames, with what is below them, whatever the shape. */
  TreeReader all() {
    whole.sumUp();
    return new TreeReader(whole, names, new SiblingOrder(), 0);
  }

  /** Reads what is shown. */
  TreeReader reader() {
    tree.sumUp();
    return reader;
  }

  /** What a query asks of it; made anew only as far as something has changed. */
  GraphPicture picture(GraphQuery query) {
    tree.sumUp();
    refill();
    picture =
        GraphPicture.of(
            picture,
            query,
            tree.changes(),
            this,
            resolve(query.zoom()),
            resolve(query.selected()),
            query.siblings() == null ? 0 : resolve(query.siblings().first()),
            query.siblings() == null ? 0 : resolve(query.siblings().last()),
            matches,
            0);
    return picture;
  }

  /**
   * Its functions; made anew only if something has changed. Null while it is still that of callers:
   * there a function's own part is not below it.
   */
  TopReport top(TopQuery query) {
    if (shape.reversed()) {
      return null;
    }
    tree.sumUp();
    if (report == null || reportedOf != tree.changes() || !query.equals(reported)) {
      report = top.report(query);
      reported = query;
      reportedOf = tree.changes();
    }
    return report;
  }

  /** Whether the number is of a node of this graph. */
  boolean has(long number) {
    int of = (int) (number >>> 32);
    return of == epoch || previous != null && of == previousEpoch;
  }

  /** The node with this number, or what stands for it now; the root if nothing does. */
  int resolve(long number) {
    int of = (int) (number >>> 32);
    int node = (int) number;
    if (of == epoch && node >= 0 && node < tree.nodes()) {
      if (reversed() != null) {
        reversed().reach(node);
      }
      return node;
    }
    if (previous != null && of == previousEpoch && node >= 0 && node < previous.nodes()) {
      return find(previous, node);
    }
    return ROOT;
  }

  /** What finds a node of this graph in that of another file. */
  NodePath path(long number, NodePath.Of graph) {
    FoldedTree of = (int) (number >>> 32) == epoch ? tree : previous;
    int depth = 0;
    for (int n = (int) number; n != ROOT; n = of.parent(n)) {
      depth++;
    }
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
    IntList functions = new IntList();
    for (int i = path.names().length - 1; i >= 0; i--) {
      functions.add(names.find(path.names()[i], path.outermost()[i]));
    }
    refill();
    return reader.number(descend(functions, functions.size - 1));
  }

  /** The node with the path of one of another tree, or with as much of it as there is. */
  private int find(FoldedTree other, int node) {
    IntList path = new IntList();
    for (int n = node; n != ROOT; n = other.parent(n)) {
      path.add(other.function(n));
    }
    if (shape.group() == RootOrder.NONE) {
      int below = descend(path, path.size - 2);
      if (below != ROOT) {
        return below;
      }
    }
    return descend(path, path.size - 1);
  }

  /**
   * @param path innermost first
   * @param from index of the outermost that counts
   */
  private int descend(IntList path, int from) {
    int at = ROOT;
    for (int i = from; i >= 0; i--) {
      tree.open(at, Double.POSITIVE_INFINITY, 1);
      int child = tree.firstChild(at);
      while (child != NONE && tree.function(child) != path.items[i]) {
        child = tree.sibling(child);
      }
      if (child == NONE) {
        break;
      }
      at = child;
    }
    return at;
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
    int depth = 0;
    for (int n = node; n >= 0; n = tree.parent(n)) {
      depth++;
    }
    String[] path = new String[depth];
    for (int n = node; n >= 0; n = tree.parent(n)) {
      path[--depth] = reader.name(n);
    }
    int of = tree.function(node);
    Function function = new Function(names.kind(of), names.module(of), reader.name(node));
    return new Selection(
        reader.number(node),
        path,
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
