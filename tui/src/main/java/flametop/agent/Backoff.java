package flametop.agent;

import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * How long to wait before the next try: twice as long after each failure, up to a minute. Half of
 * each wait is drawn, so that agents which lost one store together do not come back together.
 */
final class Backoff {
  static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);
  static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** The longest wait that a store may ask for. */
  static final long MOST_ASKED_NANOS = TimeUnit.MINUTES.toNanos(5);

  private static final int MOST_DOUBLINGS = 6;

  private final RandomGenerator random;
  private int failures;

  Backoff(RandomGenerator random) {
    this.random = random;
  }

  /**
   * The wait after one more failure.
   *
   * @param askedNanos the least that the store asked for; 0: nothing
   */
  long failed(long askedNanos) {
    long whole = Math.min(MOST_NANOS, FIRST_NANOS << Math.min(failures, MOST_DOUBLINGS));
    failures++;
    long drawn = whole / 2 + (long) (random.nextDouble() * (whole - whole / 2));
    return Math.max(drawn, Math.min(askedNanos, MOST_ASKED_NANOS));
  }

  void succeeded() {
    failures = 0;
  }
}
