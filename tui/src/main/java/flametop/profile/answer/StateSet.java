package flametop.profile.answer;

import flametop.sampler.State;

/** A set of task states, as bits by {@link State#ordinal()}. */
public record StateSet(int bits) {
  /** RUN, RUNQ and D. */
  public static final StateSet BUSY = of(State.RUN, State.QUEUED, State.DISK);

  public static final StateSet ON_CPU = of(State.RUN);

  /** The states in which a task neither runs nor waits for a CPU. */
  public static final StateSet BLOCKED =
      of(State.SLEEP, State.DISK, State.STOPPED, State.ZOMBIE, State.PARKED, State.OTHER);

  public static final StateSet OFF_CPU = new StateSet(BLOCKED.bits | of(State.QUEUED).bits);

  public static final StateSet ALL = new StateSet(ON_CPU.bits | OFF_CPU.bits);

  public static StateSet of(State... states) {
    int bits = 0;
    for (State s : states) {
      bits |= 1 << s.ordinal();
    }
    return new StateSet(bits);
  }

  // A record's own are made when they are first used, which costs the first paint 20 ms.
  @Override
  public boolean equals(Object other) {
    return other instanceof StateSet set && set.bits == bits;
  }

  @Override
  public int hashCode() {
    return bits;
  }

  public boolean contains(State state) {
    return (bits & 1 << state.ordinal()) != 0;
  }
}
