package flametop.sampler;

import java.util.SplittableRandom;

/**
 * Draws the time from one pass to the next: evenly from a half to one and a half of the period, so
 * that passes are in step with no cycle of the tasks. Deadlines never stray further than {@link
 * #MOST_ASTRAY} periods from the deadlines of an even pace.
 */
final class PassPace {
  /**
   * Periods. At that bound the walk is reflected: where it is stays even over whole periods, and
   * each interval within its range.
   */
  static final int MOST_ASTRAY = 8;

  private final SplittableRandom random;

  /** Periods behind an even pace. */
  private double astray;

  PassPace(SplittableRandom random) {
    this.random = random;
  }

  /** ns from the last deadline to the next. */
  long next(long periodNanos) {
    double before = astray;
    astray += random.nextDouble() - 0.5;
    if (Math.abs(astray) > MOST_ASTRAY) {
      astray = Math.copySign(2.0 * MOST_ASTRAY, astray) - astray;
    }
    return Math.round((1 + astray - before) * periodNanos);
  }
}
