package flametop.term.device;

import java.util.concurrent.TimeUnit;

/**
 * Tells how far the terminal is behind. Buffers of megabytes (of ssh and TCP) may stand between us
 * and the terminal, and take all bytes at once. So a request of status, {@code ESC [ 5 n}, follows
 * each large picture. The terminal answers when it has read that far: until then no more pictures
 * are sent.
 *
 * <p>Nobody waits for a terminal that never answered; and only a few times for one that stopped
 * answering.
 */
public final class Echo {
  static final String QUESTION = "\033[5n";

  /** Fewer bytes are not worth a question: they take a second on the slowest lines. */
  private static final int WORTH_BYTES = 1024;

  /** How much longer than the fastest answer one may take before it is late. */
  private static final long SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final long GIVE_UP_NANOS = TimeUnit.SECONDS.toNanos(10);

  /** After so many missed answers in turn nobody waits any more. */
  private static final int GIVE_UP_MISSED = 3;

  private static final long NEVER = Long.MAX_VALUE;

  private boolean asked;
  private long askedAt;
  private long fastest = NEVER;
  private int unasked;
  private int missed;

  /** Forgets earlier answers of the terminal: the next bytes carry a question. */
  public synchronized void restart() {
    asked = false;
    unasked = WORTH_BYTES;
  }

  /**
   * Bytes are about to be sent.
   *
   * @param nanos now, of a clock that only goes forward
   * @return whether the question must follow these bytes
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

  /** Whether the terminal is behind by more than the way there and back. */
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

  /**
   * Waits for an answer that is due, at most so long: otherwise the answer would go to the shell.
   */
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
