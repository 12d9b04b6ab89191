package flametop.profile.log;

import java.util.BitSet;

/** How long each owner was in which state, whatever its stacks. */
public final class OwnerTimes extends LogWindow {
  /** The place of {@link Stacks#STOLEN}, which the log has as waiting for a CPU. */
  private static final int STOLEN = flametop.sampler.State.values().length;

  private final Sums sums = new Sums(false);

  public OwnerTimes(ChangeLog log) {
    super(log);
  }

  @Override
  public void head(int owner, int stack, int spot, long base, int open, long samples) {
    if (!Spot.isSampled(spot)) {
      sums.addHead(owner, stack == Stacks.STOLEN ? STOLEN : Spot.state(spot), base, open, 0);
    }
  }

  @Override
  public void tail(int owner, int stack, int spot, long base, int open, long samples) {
    if (!Spot.isSampled(spot)) {
      sums.addTail(owner, stack == Stacks.STOLEN ? STOLEN : Spot.state(spot), base, open, 0);
    }
  }

  @Override
  public boolean tellsCpus() {
    return false;
  }

  /** All owners with time are below. */
  public int count() {
    return sums.things();
  }

  /** ns of an owner in these states, without what was stolen from it. */
  public long weight(int owner, int states) {
    return Math.max(0, sums.weight(owner, states, window()));
  }

  /**
   * Goes to the moments of a window and stays there, like {@link #range}.
   *
   * @return whether the times are of that window
   */
  public boolean to(Window wanted, long deadline) {
    hold(wanted.headTime());
    return range(wanted.whole() ? Long.MIN_VALUE : wanted.tailTime(), deadline);
  }

  /** Adds the owners that have time. */
  public void mark(BitSet owners) {
    for (int owner = 0; owner < count(); owner++) {
      if (!sums.isZero(owner)) {
        owners.set(owner);
      }
    }
  }

  /** An owner was freed: another begins without its sums. */
  public void ownerFreed(int owner) {
    sums.clear(owner);
  }
}
