package flametop.profile.tree;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Siblings;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A graph as it is shown: one fold of a store at a time, and while the graph takes another shape,
 * the next fold beside the shown one. Nodes have numbers that outlive their tree: the number of a
 * node that was shown before means the node that stands for it now.
 *
 * @param <F> the folds
 */
public final class Graph<F extends Fold> {
  /**
   * How many trees that were shown before are kept for the numbers of their nodes: to the callers,
   * to the functions, to the callers again and back, and one shape more.
   */
  private static final int MOST_BEFORE = 5;

  /** How long one picture may look for the trend of its selection, ns. */
  private static final long TREND_NANOS = 3_000_000;

  /** The paths of a tree that is or was shown, and the upper half of the numbers of its nodes. */
  private record Numbered(int epoch, Paths paths, Shape shape) {}

  private record Report(TopQuery query, long version, TopReport answer) {}

  private final Store<F> store;

  /** The trees that were shown before, the newest first. */
  private final List<Numbered> before = new ArrayList<>();

  private F shown;

  /** Null while the graph has its shape. */
  private @Nullable F next;

  /** A shape that there was no memory for; null if there was. */
  private @Nullable Shape refused;

  /** The last picture; null if there is none. */
  private @Nullable GraphPicture picture;

  /** The last report of functions; null if there is none. */
  private @Nullable Report top;

  Graph(Store<F> store, Shape shape) {
    this.store = store;
    shown = store.first(shape);
    update();
  }

  /** The fold that is shown. */
  public F shown() {
    return shown;
  }

  /** Whether another fold is made beside the shown one. */
  public boolean hasNext() {
    return next != null;
  }

  /** The folds that follow the store. */
  public void each(Consumer<? super F> action) {
    action.accept(shown);
    if (next != null) {
      action.accept(next);
    }
  }

  /** Adds the paths that were shown before, of which numbers of nodes are still known. */
  public void before(List<? super Paths> to) {
    before.forEach(one -> to.add(one.paths));
  }

  /** Nobody looks at the graph any more. */
  public void close() {
    drop();
    shown.close();
  }

  private void drop() {
    if (next != null) {
      next.close();
      next = null;
    }
  }

  /** The shape that the graph has, or is about to have. */
  public Shape shape() {
    return (next != null ? next : shown).tree().shape();
  }

  /** Takes another shape, beside what is shown. */
  public void shape(Shape wanted) {
    if (shape().equals(wanted) || refused != null && refused.equals(wanted)) {
      return;
    }
    refused = null;
    if (wanted.equals(shown.tree().shape()) && !shown.isOutdated()) {
      drop();
    } else {
      begin(wanted);
    }
  }

  private void begin(Shape wanted) {
    drop();
    next = store.fold(wanted);
    if (!next.isBehind() && !next.isOutdated()) {
      take(next);
    }
  }

  /** Folds the same shape anew, beside what is shown. */
  public void refold() {
    begin(shape());
  }

  /** Folds the shape anew if the store cannot be followed any more. */
  public void update() {
    if ((next != null ? next : shown).isOutdated()) {
      refold();
    }
  }

  /**
   * Begins anew.
   *
   * @param meanwhile what is shown until the graph has the shape that it had
   */
  public void restart(Shape meanwhile) {
    Shape wanted = shape();
    drop();
    show(store.first(meanwhile));
    shape(wanted);
  }

  /** Begins anew, and forgets the numbers of all nodes. */
  public void renew() {
    Shape shape = shape();
    close();
    shown = store.first(shape);
    before.clear();
    refused = null;
    picture = null;
    top = null;
  }

  /** Whether the graph of another shape is still shown, or of stacks that are gone. */
  public boolean isRefolding() {
    boolean other = next != null && (shown.isOutdated() || !shape().equals(shown.tree().shape()));
    return other || shown.isOpening();
  }

  /** Whether the graph is not yet of the shape and moment that were asked for. */
  public boolean isBehind() {
    return next != null || shown.isBehind();
  }

  /** How much of the graph is made, 0 to 1. */
  public double share() {
    return (next != null ? next : shown).share();
  }

  /**
   * A shape for which there is not enough memory, or for whose opened nodes there is not enough;
   * else null.
   */
  public @Nullable Shape refused() {
    return refused == null && shown.overflows() ? shown.tree().shape() : refused;
  }

  /** Whether there is work for {@link #slice}. */
  public boolean isDue() {
    return next != null || shown.isDue();
  }

  /**
   * Does some of the work, until {@code deadline} ({@link System#nanoTime}).
   *
   * @return whether the graph took its shape
   */
  public boolean slice(long deadline) {
    if (next == null) {
      boolean unused = shown.slice(deadline);
      return false;
    }
    return next.slice(deadline) && take(next);
  }

  private boolean take(F made) {
    next = null;
    if (made.overflows()) {
      refused = made.tree().shape();
      made.close();
      return false;
    }
    show(made);
    return true;
  }

  /** Takes its shape, however long that takes. */
  public void finish() {
    while (next != null) {
      slice(Long.MAX_VALUE);
    }
  }

  private void show(F fold) {
    ShapedTree old = shown.tree();
    before.add(0, new Numbered(old.epoch(), old.nodes().paths(), old.shape()));
    if (before.size() > MOST_BEFORE) {
      before.remove(MOST_BEFORE);
    }
    shown.close();
    shown = fold;
  }

  /** The paths with the node of this number; null if it is of another graph, or long gone. */
  public @Nullable Paths pathsOf(long number) {
    Numbered of = numbered(number);
    return of == null ? null : of.paths;
  }

  private @Nullable Numbered numbered(long number) {
    int epoch = (int) (number >>> 32);
    ShapedTree now = shown.tree();
    if (epoch == now.epoch()) {
      return new Numbered(epoch, now.nodes(), now.shape());
    }
    for (Numbered one : before) {
      if (epoch == one.epoch) {
        return one;
      }
    }
    return null;
  }

  /** The node with this number, or the node that stands for it now; the root if none does. */
  public int resolve(long number) {
    Numbered of = numbered(number);
    int node = (int) number;
    if (of == null || node < 0 || node >= of.paths.nodes()) {
      return 0;
    }
    int there = of.paths.follow(node);
    ShapedTree now = shown.tree();
    return of.paths == now.nodes() ? there : now.find(of.paths, of.shape, there);
  }

  /**
   * The answer to a query, from the graph as it is; made anew only as far as something has changed.
   */
  public GraphPicture picture(GraphQuery query) {
    ShapedTree tree = shown.tree();
    long version = version();
    int zoom = resolve(query.zoom());
    int selected = resolve(query.selected());
    GraphPicture before = picture;
    boolean unchanged =
        before != null
            && before.version() == version
            && before.query().states().equals(query.states());
    GraphPicture same = unchanged ? before : null;
    GraphPicture found =
        same != null && Matches.same(same.query().search(), query.search()) ? same : null;
    GraphSlice slice =
        found != null && found.hasSlice(query, zoom) ? found.slice() : slice(query, zoom);
    // The answer to a key does not wait for its trend, nor a new node of very many to be watched.
    boolean again = before != null && before.selected() == selected;
    Selection selection =
        same != null && again && !same.isDue()
            ? same.selection()
            : shown.selection(selected, query.states(), again ? TREND_NANOS : 0);
    Snapshot.Search search = null;
    if (query.search() != null) {
      search = found != null ? found.search() : tree.search(query.search(), query.states());
    }
    long total = same != null ? same.total() : tree.reader().total(query.states());
    picture = new GraphPicture(query, version, zoom, selected, slice, selection, search, total);
    return picture;
  }

  private GraphSlice slice(GraphQuery query, int zoom) {
    Siblings of = query.siblings();
    int first = of == null ? 0 : resolve(of.first());
    int last = of == null ? 0 : resolve(of.last());
    return shown.tree().reader().slice(query, zoom, first, last);
  }

  /**
   * The functions of the graph as it is; made anew only if something has changed.
   *
   * @param noise of what is counted, if it is compared
   */
  public TopReport top(TopQuery query, Noise noise) {
    long version = version();
    if (top == null || top.version != version || !query.equals(top.query)) {
      top = new Report(query, version, shown.tree().top().report(query, noise));
    }
    return top.answer;
  }

  private long version() {
    return (long) shown.tree().epoch() << 48 | shown.changes();
  }
}
