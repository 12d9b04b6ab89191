package flametop.term;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;

/**
 * What somebody did, in order. What is typed ahead of the answer to a key is meant for what will be
 * there then: it waits for that, but not long. All times are ns of a clock that only goes forward.
 */
final class InputQueue {
  static final long PATIENCE_NANOS = 2_000_000_000L;

  private final Queue<ScreenEvent.Input> queue = new ArrayDeque<>();
  private boolean waiting;
  private long until;

  void add(ScreenEvent.Input input) {
    queue.add(input);
  }

  /** Something was done that has its answer later. */
  void awaitAnswer(long now) {
    waiting = true;
    until = now + PATIENCE_NANOS;
  }

  /**
   * The next one; null if there is none yet.
   *
   * @param isAnswered whether the answer is here
   */
  ScreenEvent.Input next(long now, BooleanSupplier isAnswered) {
    waiting = waiting && now - until < 0 && !isAnswered.getAsBoolean();
    return waiting ? null : queue.poll();
  }

  /** How long the next one waits at most; {@link Long#MAX_VALUE} if there is none. */
  long untilDue(long now) {
    return queue.isEmpty() ? Long.MAX_VALUE : Math.max(0, until - now);
  }
}
