package flametop.profile.live;

import flametop.profile.answer.Selection;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.Window;
import org.jspecify.annotations.Nullable;

/**
 * The time of the watched node of a fold in the window before: the changes from the beginning of
 * that window to its end, which is the tail of the fold.
 */
final class Trend implements ChangeLog.Reader {
  private final ChangeLog log;
  private final LogFold fold;
  private final ChangeLog.Cursor begin;
  private boolean placed;

  Trend(ChangeLog log, LogFold fold) {
    this.log = log;
    this.fold = fold;
    begin = log.start();
    log.attach(this);
  }

  void close() {
    log.detach(this);
  }

  private void passed(int owner, int stack, int spot, long base, int open, long samples) {
    fold.begin(owner, stack, spot, base, open);
  }

  /** Drops the beginning, which is found anew for the next question. */
  private void drop() {
    if (placed) {
      fold.trie.endBegin();
      placed = false;
    }
  }

  /**
   * The time of the watched node in the window before.
   *
   * @return null if there is no such window, or its beginning is not found yet
   */
  Selection.@Nullable Before before(int states, long deadline) {
    Window window = fold.window();
    if (window.whole() || fold.lost()) {
      drop();
      return null;
    }
    if (!placed) {
      begin.set(fold.tailCursor());
      fold.trie.beginAtTail();
      placed = true;
    }
    long from = window.tailTime() - (window.headTime() - window.tailTime());
    while (log.time(begin) > from
        || begin.before(fold.tailCursor()) && log.nextTime(begin) <= from) {
      if (deadline - System.nanoTime() < 0) {
        return null;
      }
      if (log.time(begin) <= from) {
        log.forward(begin, this::passed);
      } else if (log.isAfterAll(begin) || !log.backward(begin, this::passed)) {
        return null;
      }
    }
    long time = log.time(begin);
    long[] before = fold.trie.before(states, log.told(begin));
    return new Selection.Before(
        window.tailTime() - time, Math.max(0, before[0]), Math.max(0, before[1]));
  }

  @Override
  public boolean tellsCpus() {
    return fold.tellsCpus();
  }

  @Override
  public void leave(int from, int to) {
    if (placed && log.within(begin, from, to)) {
      drop();
    }
  }

  @Override
  public void moved(int from, int owner, int stack, int spot, long base, int open, long samples) {
    drop();
  }

  @Override
  public void joined(int from, int to) {
    begin.joined(from, to);
  }
}
