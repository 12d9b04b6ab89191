package flametop.profile.log;

import flametop.sampler.SourceTotals;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * The events of one source: exact totals by the kernel, and the stacks that were copied of some of
 * the events.
 *
 * <p>A stack stands for more events than its own: for {@code weight ÷ (1 − e^(−weight ÷ rate))}.
 * The growth of the totals is parted among the stacks that came meanwhile, in the proportion of
 * what each stands for: sums are exact, and shares unbiased. The stack of a time in which each
 * event had one stands for the weight of its event alone. Weight waits for stacks for a second or
 * two; after that it is {@link Stacks#NOT_SAMPLED}.
 */
public final class EventAccounts {
  private static final long SECOND = 1_000_000_000;

  private static final int RUN = State.RUN.ordinal();

  /**
   * A stack that has no weight yet.
   *
   * @param weight of its event
   * @param share what the stack stands for; 0: for the weight of its event alone
   */
  private record Sample(int owner, int stack, long weight, double share) {
    boolean isExact() {
      return share == 0;
    }
  }

  private final ChangeLog log;
  private final List<Sample> samples = new ArrayList<>();
  private SourceTotals totals = SourceTotals.NONE;

  /** Weight that has no stack yet. */
  private long open;

  /** The part of {@link #open} that was there when this second began. */
  private long old;

  /** Weight that has no stack, and will have none. */
  private long notSampled;

  /** Weight that stacks have, and the squares of what those stand for that are one of many. */
  private double sampled;

  private double squares;

  private long secondBegan = Long.MIN_VALUE;

  /**
   * @param log takes the weights, as time on a CPU
   */
  public EventAccounts(ChangeLog log) {
    this.log = log;
  }

  /** The newest totals. */
  public SourceTotals totals() {
    return totals;
  }

  /** Weight that has no stack, and will have none, since the start or the last restart. */
  public long notSampled() {
    return notSampled;
  }

  /**
   * The weight that one stack stands for, since the start or the last restart: the mean in which
   * stacks count by their weight, since the heavy ones make shares uncertain. 0 if each event has a
   * stack.
   */
  public double stackWeight() {
    return sampled <= 0 ? 0 : squares / sampled;
  }

  /** Totals until now. */
  public void totals(SourceTotals now) {
    open += Math.max(0, now.weight() - totals.weight());
    totals = now;
  }

  /**
   * An event with its stack.
   *
   * @param rate weight between stacks; 0: each event has one
   */
  public void event(int owner, int stack, long weight, long rate) {
    if (weight > 0) {
      double share = rate == 0 ? 0 : weight / -Math.expm1(-(double) weight / rate);
      samples.add(new Sample(owner, stack, weight, share));
    }
  }

  /** Adds the owners and stacks of samples that wait. */
  public void mark(BitSet owners, BitSet stacks) {
    for (Sample sample : samples) {
      owners.set(sample.owner);
      if (sample.stack >= 0) {
        stacks.set(sample.stack);
      }
    }
  }

  /** Gives stacks their weights, as far as they are known at this time, ns. */
  public void settle(long time) {
    part();
    if (secondBegan == Long.MIN_VALUE || time - secondBegan >= SECOND) {
      giveUp(old);
      old = open;
      secondBegan = time;
    }
  }

  /** No more will come: weight that waits for stacks has none. */
  public void end() {
    part();
    giveUp(open);
  }

  /** The log was begun anew: what was before counts no more. */
  public void restart() {
    samples.clear();
    open = 0;
    old = 0;
    notSampled = 0;
    sampled = 0;
    squares = 0;
    secondBegan = Long.MIN_VALUE;
  }

  private void part() {
    // The totals may be older than the event.
    samples.removeIf(
        sample -> {
          boolean given = sample.isExact() && sample.weight <= open;
          if (given) {
            give(sample.owner, sample.stack, sample.weight);
            sampled += sample.weight;
          }
          return given;
        });
    double sum = samples.stream().mapToDouble(Sample::share).sum();
    if (sum == 0 || open == 0) {
      return;
    }
    long parted = open;
    double passed = 0;
    long given = 0;
    for (Sample sample : samples) {
      // Not each part is rounded, but all until here: so nothing is left.
      passed += sample.share;
      long until = passed >= sum ? parted : (long) (parted * (passed / sum));
      give(sample.owner, sample.stack, until - given);
      sampled += until - given;
      squares += (double) (until - given) * (until - given);
      given = until;
    }
    samples.removeIf(sample -> !sample.isExact());
  }

  private void giveUp(long weight) {
    notSampled += weight;
    give(Owners.OLDER, Stacks.NOT_SAMPLED, weight);
  }

  private void give(int owner, int stack, long weight) {
    if (weight > 0) {
      log.placed(owner, stack, RUN, weight);
      open -= weight;
      old = Math.max(0, old - weight);
    }
  }
}
