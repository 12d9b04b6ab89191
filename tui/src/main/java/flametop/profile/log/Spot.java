package flametop.profile.log;

import flametop.profile.answer.Shape;
import flametop.sampler.State;

/**
 * Kind, state and CPU of a log entry, as one number. An entry is either time that is known to be
 * its stack's, or the weight of samples: time that one sample stands for, which {@code Estimate}
 * scales to the time that is known. The CPU is known of samples of the CPU clock; older history
 * forgets the CPU.
 */
public final class Spot {

  /** Kinds are below: a state, and whether the entry is of samples. */
  public static final int KINDS = 18;

  /** Kinds from here on are of samples. */
  private static final int SAMPLED = KINDS / 2;

  private static final int KIND_BITS = 5;
  private static final int MOST_CPUS = (1 << 16 - KIND_BITS) - 1;

  static {
    assert State.values().length <= SAMPLED;
  }

  private Spot() {}

  /** The spot of time in a state. */
  public static int of(int state) {
    return state;
  }

  /**
   * The spot of samples in a state.
   *
   * @param cpu {@link Shape#NO_CPU} if it is not known
   */
  public static int sampled(int state, int cpu) {
    int known = cpu >= MOST_CPUS ? Shape.NO_CPU : cpu;
    return known + 1 << KIND_BITS | SAMPLED + state;
  }

  /** The same without the CPU; below {@link #KINDS}. */
  public static int kind(int spot) {
    return spot & (1 << KIND_BITS) - 1;
  }

  /** The bits of the kinds of samples in states. */
  public static int sampledKinds(int states) {
    return states << SAMPLED;
  }

  public static boolean isSampled(int spot) {
    return kind(spot) >= SAMPLED;
  }

  public static int state(int spot) {
    int kind = kind(spot);
    return kind < SAMPLED ? kind : kind - SAMPLED;
  }

  /** {@link Shape#NO_CPU} if it is not known. */
  public static int cpu(int spot) {
    return (spot >> KIND_BITS) - 1;
  }
}
