package flametop.profile.live;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.log.Window;
import flametop.profile.tree.GraphPicture;
import flametop.profile.tree.Matches;
import flametop.profile.tree.Noise;
import flametop.profile.tree.ShownGraph;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * A graph of the log: the fold of its shape, and while it takes another shape, the fold of that
 * beside it, which goes on in slices.
 */
final class Graph extends ShownGraph<Trie> {
  private static final long PRESENT = Long.MIN_VALUE;

  /**
   * How many tries that were shown before are kept for the numbers of their nodes: to the callers,
   * to the functions, to the callers again and back, and one shape more.
   */
  private static final int MOST_RETIRED = 5;

  /** Begins the fold of a shape. */
  interface Folds {
    Fold fold(Shape shape);
  }

  private final Folds folds;
  private Fold fold;
  private Fold next;

  private long held = Long.MAX_VALUE;
  private long from = PRESENT;
  private long to;
  private Window baseline;
  private long windowNanos = Long.MAX_VALUE;
  private boolean tailDue;

  /**
   * @param epochs a new one at each call: upper half of the numbers of the nodes of a trie
   */
  Graph(Folds folds, IntSupplier epochs, Shape shape) {
    this(folds, epochs, folds.fold(shape));
  }

  private Graph(Folds folds, IntSupplier epochs, Fold fold) {
    super(epochs, MOST_RETIRED, fold.trie());
    this.folds = folds;
    this.fold = fold;
  }

  @Override
  public void close() {
    fold.close();
    drop();
  }

  private void drop() {
    if (next != null) {
      next.close();
      next = null;
    }
  }

  /** What is shown. */
  Fold fold() {
    return fold;
  }

  /** The shape that it has, or is about to have. */
  Shape shape() {
    return next != null ? next.shape() : fold.shape();
  }

  /** Folds the past into a shape, beside what is shown. */
  @Override
  public void shape(Shape shape) {
    if (!shape().equals(shape)) {
      begin(shape);
    }
  }

  private void begin(Shape shape) {
    drop();
    next = folds.fold(shape);
    next.hold(limit());
  }

  /** Whether it is still the graph of another shape, or of another part of the past. */
  boolean refolding() {
    return next != null && (fold.lost() || !next.shape().equals(fold.shape()));
  }

  @Override
  public boolean isBehind() {
    return next != null || !fold.caughtUp();
  }

  /** Where the head is held. */
  private long limit() {
    return from == PRESENT ? held : to;
  }

  private void move() {
    fold.hold(limit());
    if (next != null) {
      next.hold(limit());
    }
    if (fold.lost() && (next == null || next.lost())) {
      begin(shape());
    }
  }

  /** Holds a moment, ns; {@link Long#MAX_VALUE}: goes on with the present. */
  void hold(long time) {
    held = time;
    move();
  }

  /** Shows what is between two moments of the past, ns, instead of the last so many ns. */
  void range(long from, long to) {
    this.from = from;
    this.to = to;
    move();
  }

  /** Shows the last so many ns again. */
  void endRange() {
    from = PRESENT;
    move();
  }

  /** What is shown now is what it is compared with from now on; returns the window that it is. */
  Window holdBaseline() {
    look(windowNanos, Long.MAX_VALUE);
    fold.holdBaseline();
    baseline = fold.baseline();
    if (next != null) {
      begin(shape());
    }
    return baseline;
  }

  /** What was shown between two moments is what it is compared with. */
  void baseline(Window window) {
    baseline = window;
    begin(shape());
  }

  /** It is compared with nothing any more. */
  void releaseBaseline() {
    baseline = null;
    fold.releaseBaseline();
    if (next != null) {
      next.releaseBaseline();
    }
  }

  /** Begins anew, with a log that was cleared; it is closed. */
  void restart() {
    Shape shape = shape();
    held = Long.MAX_VALUE;
    from = PRESENT;
    baseline = null;
    replace(folds.fold(shape));
  }

  /** The paths of a stack are others than before. */
  void renamed(int stack) {
    fold.renamed(stack);
    if (next != null) {
      next.renamed(stack);
    }
  }

  /** Adds the folds that there are. */
  void folds(List<? super Fold> to) {
    to.add(fold);
    if (next != null) {
      to.add(next);
    }
  }

  /** Folds anew what is mostly empty. */
  void tidy(int least) {
    if (next == null
        && baseline == null
        && limit() == Long.MAX_VALUE
        && fold.trie().mostlyEmpty(least)) {
      begin(fold.shape());
    }
  }

  /** Whether {@link #slice} has something to do. */
  boolean due() {
    return next != null || tailDue || !fold.caughtUp();
  }

  /**
   * Does some of what is due, until {@code deadline} ({@link System#nanoTime}).
   *
   * @return whether it took the shape that it was to take
   */
  boolean slice(long deadline) {
    if (!fold.caughtUp()) {
      fold.catchUp(deadline);
    } else if (next != null) {
      return refold(deadline);
    } else {
      tailDue = !seek(fold, deadline);
    }
    return false;
  }

  private boolean refold(long deadline) {
    if (baseline != null && next.baseline() == null) {
      next.hold(baseline.headTime());
      if (!next.range(baseline.whole() ? Long.MIN_VALUE : baseline.tailTime(), deadline)) {
        return false;
      }
      next.holdBaseline();
      next.hold(limit());
    }
    next.catchUp(deadline);
    if (!next.caughtUp() || !seek(next, deadline)) {
      return false;
    }
    fold.close();
    Fold whole = next;
    next = null;
    replace(whole);
    return true;
  }

  private void replace(Fold with) {
    fold.trie().retire();
    fold = with;
    show(fold.trie());
  }

  /** Takes the shape that it is to take, however long that takes. */
  void finish() {
    while (next != null) {
      refold(Long.MAX_VALUE);
    }
  }

  /** Moves what is shown to a window, as far as {@code deadline} allows. */
  void look(long window, long deadline) {
    windowNanos = window;
    fold.catchUp(deadline);
    tailDue = !seek(fold, deadline);
  }

  private boolean seek(Fold of, long deadline) {
    return from == PRESENT ? of.window(windowNanos, deadline) : of.range(from, deadline);
  }

  /**
   * Its functions; made anew only if something has changed.
   *
   * @param noise of the samples, if it is compared
   */
  TopReport top(TopQuery query, Noise noise) {
    return top(query, noise, fold.version(), fold.top());
  }

  /** What a query asks of the graph; made anew only as far as something has changed. */
  GraphPicture picture(GraphQuery query, GraphPicture.Reader reader, Matches matches) {
    return picture(query, fold.version(), reader, matches);
  }

  @Override
  public int nodes(Trie of) {
    return of.nodes();
  }

  @Override
  public int find(Trie of, int node) {
    int stands = of.follow(node);
    return of == shown() ? stands : shown().find(of, stands);
  }
}
