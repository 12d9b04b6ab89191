package flametop.term.device;

import java.util.concurrent.TimeUnit;

/**
 * How far the terminal is behind. Between it and us may be buffers of megabytes (those of ssh and
 * of TCP) that take all that is written at once. So behind what fills them it is asked for its
 * status, {@code ESC [ 5 n}, which it answers when it has come there: until then no more pictures
 * are sent.
 *
 * <p>A terminal that never answered is not waited for, and one that stopped answering a few times
 * only.
 */
public final class Echo {
  static final String QUESTION = "\033[5n";

  /** Less than this is not worth a question: a second on the slowest of lines. */
  private static final int WORTH_BYTES = 1024;

  /** The answer may take this much longer than the fastest before it is late. */
  private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final long GIVE_UP_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** So many answers in turn are missed before it is not waited for any more. */
  private static final int GIVE_UP_MISSED = 3;

  private static final long NEVER = Long.MAX_VALUE;

  private boolean asked;
  private long askedAt;
  private long fastest = NEVER;
  private int unasked;
  private int missed;

  /** What the terminal said before counts no more: it is asked with the next bytes. */
  public synchronized void restart() {
    asked = false;
    unasked = WORTH_BYTES;
  }

  /**
   * Bytes are about to be sent.
   *
   * @param nanos now, of a clock that only goes forward
   * @return whether the question is to follow them
   */
  public synchronized boolean sending(int bytes, long nanos) {
    unasked += bytes;
    if (asked || unasked < WORTH_BYTES) {
      return false;
    }
    asked = true;
    askedAt = nanos;
    unasked = 0;
    return true;
  }

  /** The answer came. */
  synchronized void answered(long nanos) {
    if (asked) {
      fastest = Math.min(fastest, nanos - askedAt);
    }
    asked = false;
    missed = 0;
    notifyAll();
  }

  /** Whether the terminal is behind by more than the way to it and back. */
  public synchronized boolean isLate(long nanos) {
    if (!asked || fastest == NEVER) {
      return false;
    }
    long waited = nanos - askedAt;
    if (waited > GIVE_UP_NANOS) {
      asked = false;
      unasked = WORTH_BYTES;
      missed++;
    }
    return asked && missed < GIVE_UP_MISSED && waited > fastest + SLACK_NANOS;
  }

  /** Waits for an answer that is due, which would else go to the shell; at most so long. */
  public synchronized void await(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (asked && missed < GIVE_UP_MISSED && fastest != NEVER && System.nanoTime() - end < 0) {
      try {
        wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
