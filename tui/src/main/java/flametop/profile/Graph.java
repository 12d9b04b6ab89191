package flametop.profile;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * A graph as it is shown: the fold of its shape, and while it takes another shape, the fold of that
 * beside it, which goes on in slices.
 */
final class Graph {
  private static final long PRESENT = Long.MIN_VALUE;

  /** How long one picture may look for the trend of its selection, ns. */
  private static final long TREND_NANOS = 3_000_000;

  /**
   * How many tries that were shown before are kept for the numbers of their nodes: shapes may
   * change more often than pictures are asked for.
   */
  private static final int MOST_RETIRED = 3;

  private record Retired(Trie trie, int epoch) {}

  /** Begins the fold of a shape. */
  interface Folds {
    Fold fold(Shape shape);
  }

  private final Folds folds;
  private final IntSupplier epochs;
  private Fold fold;
  private Fold next;

  /** Those that were shown before, the latest first. */
  private final List<Retired> retired = new ArrayList<>();

  private int epoch;
  private long held = Long.MAX_VALUE;
  private long from = PRESENT;
  private long to;
  private Window baseline;
  private long windowNanos = Long.MAX_VALUE;
  private boolean tailDue;
  private GraphPicture picture;
  private TopReport top;
  private TopQuery topQuery;
  private long topVersion;

  /**
   * @param epochs a new one at each call: upper half of the numbers of the nodes of a trie
   */
  Graph(Folds folds, IntSupplier epochs, Shape shape) {
    this.folds = folds;
    this.epochs = epochs;
    fold = folds.fold(shape);
    epoch = epochs.getAsInt();
  }

  void close() {
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
  void shape(Shape shape) {
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

  /** Whether it is not yet what it is to be. */
  boolean isBehind() {
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

  /** Adds the tries that were shown before, of which numbers of nodes are still known. */
  void retired(List<? super Trie> to) {
    for (Retired before : retired) {
      to.add(before.trie);
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
    retired.add(0, new Retired(fold.trie(), epoch));
    if (retired.size() > MOST_RETIRED) {
      retired.remove(MOST_RETIRED);
    }
    fold = with;
    epoch = epochs.getAsInt();
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

  int epoch() {
    return epoch;
  }

  /**
   * Its functions; made anew only if something has changed.
   *
   * @param noise of the samples, if it is compared
   */
  TopReport top(TopQuery query, Noise noise) {
    long version = version();
    if (top == null || topVersion != version || !query.equals(topQuery)) {
      top = fold.top().report(query, noise);
      topQuery = query;
      topVersion = version;
    }
    return top;
  }

  private long version() {
    return (long) epoch << 48 | fold.version();
  }

  /** What a query asks of the graph; made anew only as far as something has changed. */
  GraphPicture picture(GraphQuery query, GraphPicture.Reader reader, Matches matches) {
    int selected = resolve(query.selected());
    // The answer to a key does not wait for its trend, nor a new node of very many to be watched.
    boolean again = picture != null && picture.selected() == selected;
    picture =
        GraphPicture.of(
            picture,
            query,
            version(),
            reader,
            resolve(query.zoom()),
            selected,
            query.siblings() == null ? 0 : resolve(query.siblings().first()),
            query.siblings() == null ? 0 : resolve(query.siblings().last()),
            matches,
            again ? TREND_NANOS : 0);
    return picture;
  }

  /** The node with this number, or what stands for it now; the root if nothing does. */
  int resolve(long number) {
    int of = (int) (number >>> 32);
    int node = (int) number;
    if (number == GraphQuery.ROOT || node < 0) {
      return 0;
    }
    if (of == epoch && node < fold.trie().nodes()) {
      return fold.trie().follow(node);
    }
    for (Retired before : retired) {
      if (of == before.epoch && node < before.trie.nodes()) {
        return fold.trie().find(before.trie, before.trie.follow(node), fold.window());
      }
    }
    return 0;
  }

  /** Whether the number is of a node of this graph. */
  boolean has(long number) {
    int of = (int) (number >>> 32);
    for (Retired before : retired) {
      if (of == before.epoch) {
        return true;
      }
    }
    return of == epoch;
  }
}
