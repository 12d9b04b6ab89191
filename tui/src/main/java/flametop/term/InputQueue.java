package flametop.term;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The input of the user, in order. A key that is typed before the answer to another key is meant
 * for the picture of that answer: it waits for the answer, but not long. All times are ns of a
 * clock that only goes forward.
 */
final class InputQueue {
  static final long PATIENCE_NANOS = 2_000_000_000L;

  private final Queue<ScreenEvent.Input> queue = new ArrayDeque<>();
  private boolean waiting;
  private long until;

  void add(ScreenEvent.Input input) {
    queue.add(input);
  }

  /** Notes that the answer to an input comes later. */
  void awaitAnswer(long now) {
    waiting = true;
    until = now + PATIENCE_NANOS;
  }

  /**
   * The next input; null if there is none yet.
   *
   * @param isAnswered whether the answer has come
   */
  ScreenEvent.@Nullable Input next(long now, BooleanSupplier isAnswered) {
    waiting = waiting && now - until < 0 && !isAnswered.getAsBoolean();
    return waiting ? null : queue.poll();
  }

  /** How long the next input waits at most; {@link Long#MAX_VALUE} without input. */
  long untilDue(long now) {
    return queue.isEmpty() ? Long.MAX_VALUE : Math.max(0, until - now);
  }
}
