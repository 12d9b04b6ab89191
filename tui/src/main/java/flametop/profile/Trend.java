package flametop.profile;

import flametop.sampler.State;
import java.util.Arrays;

/**
 * What the watched node of a fold had in the window before: the changes between that window's
 * beginning and its end, which is the tail of the fold.
 */
final class Trend implements ChangeLog.Reader {
  private static final int STATES = State.values().length;

  private final ChangeLog log;
  private final Fold fold;
  private final ChangeLog.Cursor begin;
  private int node = -1;

  /** By state: of the watched node, then of all. */
  private final long[] base = new long[2 * STATES];

  private final long[] open = new long[2 * STATES];
  private boolean placed;

  Trend(ChangeLog log, Fold fold) {
    this.log = log;
    this.fold = fold;
    begin = log.start();
    log.attach(this);
  }

  void close() {
    log.detach(this);
  }

  /** Paths are others than before: it is to be found anew. */
  void reset() {
    placed = false;
  }

  /** The tail of the fold passed this. */
  void passed(int entry, int state, long nanos, int opened) {
    if (placed) {
      add(entry, state, nanos, opened);
    }
  }

  private void add(int entry, int state, long nanos, int opened) {
    if (fold.trie().leaf(entry) < 0) {
      return;
    }
    if (fold.trie().watch().holds(entry)) {
      base[state] += nanos;
      open[state] += opened;
    }
    base[STATES + state] += nanos;
    open[STATES + state] += opened;
  }

  private void left(int owner, int stack, int spot, long nanos, int opened, long samples) {
    int entry = fold.entry(owner, stack, spot);
    if (entry >= 0) {
      add(entry, Spot.state(spot), -nanos, -opened);
    }
  }

  /**
   * What the watched node had.
   *
   * @return null if that is not known: there is no such window, or it is still being looked for
   */
  Selection.Before before(int states, long deadline) {
    Window window = fold.window();
    if (window.whole() || fold.lost()) {
      return null;
    }
    int watched = fold.trie().watch().node();
    if (!placed || watched != node) {
      node = watched;
      Arrays.fill(base, 0);
      Arrays.fill(open, 0);
      begin.set(fold.tailCursor());
      placed = true;
    }
    long from = window.tailTime() - (window.headTime() - window.tailTime());
    while (log.time(begin) > from
        || begin.before(fold.tailCursor()) && log.nextTime(begin) <= from) {
      if (deadline - System.nanoTime() < 0) {
        return null;
      }
      if (log.time(begin) <= from) {
        log.forward(begin, this::left);
      } else if (!log.backward(begin, this::left)) {
        return null;
      }
    }
    long time = log.time(begin);
    return new Selection.Before(
        window.tailTime() - time,
        nanos(0, node, states, window.tailTime(), time),
        nanos(STATES, 0, states, window.tailTime(), time));
  }

  private long nanos(int of, int at, int states, long to, long from) {
    long sum = fold.trie().tailOpen(at, states) * (to - from);
    for (int state = 0; state < STATES; state++) {
      if ((states & 1 << state) != 0) {
        sum += base[of + state] + open[of + state] * from;
      }
    }
    return Math.max(0, sum);
  }

  @Override
  public boolean tellsCpus() {
    return fold.tellsCpus();
  }

  @Override
  public void leave(long from, long to) {
    if (placed && log.within(begin, from, to)) {
      placed = false;
    }
  }

  @Override
  public void moved(
      long from,
      int owner,
      int stack,
      int toOwner,
      int toStack,
      int spot,
      int toSpot,
      long base,
      int open,
      long samples) {
    placed = false;
  }

  @Override
  public void joined(long from, long to) {
    if (begin.chunk == from) {
      begin.chunk = to;
    }
  }
}
