package flametop.profile;

/**
 * State and CPU of what was logged, as one number. The CPU is known of what a sample placed; older
 * history forgets it.
 */
final class Spot {
  static final int NO_CPU = -1;

  private static final int STATE_BITS = 3;
  private static final int MOST_CPUS = (1 << 16 - STATE_BITS) - 1;

  private Spot() {}

  static int of(int state, int cpu) {
    return cpu >= MOST_CPUS ? state : cpu + 1 << STATE_BITS | state;
  }

  static int state(int spot) {
    return spot & (1 << STATE_BITS) - 1;
  }

  /** {@link #NO_CPU} if it is not known. */
  static int cpu(int spot) {
    return (spot >> STATE_BITS) - 1;
  }
}
