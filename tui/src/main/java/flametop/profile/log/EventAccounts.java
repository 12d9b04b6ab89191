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
 * <p>A stack stands for more events than its own: for {@code share = weight ÷ (1 − e^(−weight ÷
 * rate))}. First each stack has the weight of its own event, which is certain. The growth of the
 * totals beyond those weights is of events without a stack; it is parted among the stacks in the
 * proportion of {@code share − weight}. So sums are exact, and a heavy event, whose stack was sure
 * to be copied, gets nothing of the light ones.
 *
 * <p>A ratio of few stacks is biased: a heavy event that comes alone would take the weight of all
 * light ones around it. So the rest is parted once a second, and where there are few stacks every
 * two seconds. Weight that finds no stack by then is {@link Stacks#NOT_SAMPLED}.
 */
public final class EventAccounts {
  private static final long SECOND = 1_000_000_000;

  private static final int RUN = State.RUN.ordinal();

  /** With fewer stacks, the rest waits for another second. */
  private static final int ENOUGH = 50;

  /**
   * A stack gets so many times the weight that it stands for, at most. Where it would be more, the
   * stacks are of other events than those that have none.
   */
  private static final double MOST = 16;

  /**
   * A stack that has not all of its weight yet.
   *
   * @param weight of its event
   * @param others the weight of the events without a stack that it stands for
   */
  private record Sample(int owner, int stack, long weight, double others) {}

  private final ChangeLog log;

  /** Stacks that have nothing yet: the totals may be older than their events. */
  private final List<Sample> young = new ArrayList<>();

  /** Stacks that have the weight of their own events, and wait for their part of the rest. */
  private final List<Sample> samples = new ArrayList<>();

  private SourceTotals totals = SourceTotals.NONE;

  /** Weight that has no stack yet. */
  private long open;

  /** The part of {@link #open} that was there when this second began. */
  private long old;

  /** Weight that has no stack, and will have none. */
  private long notSampled;

  /** Weight that stacks have, and of each the product of that with what it has of other events. */
  private double sampled;

  private double products;

  private long secondBegan = Long.MIN_VALUE;

  /** The rest was not parted when the second before this one ended. */
  private boolean waits;

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

  /** Weight since the start that has no stack, and will have none. */
  public long notSampled() {
    return notSampled;
  }

  /**
   * The weight of other events that one stack stands for, since the start: the mean in which stacks
   * count by their weight, since the heavy ones make shares uncertain. 0 if each event has a stack.
   */
  public double stackWeight() {
    return sampled <= 0 ? 0 : products / sampled;
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
      double share = rate == 0 ? weight : weight / -Math.expm1(-(double) weight / rate);
      young.add(new Sample(owner, stack, weight, Math.max(0, share - weight)));
    }
  }

  /** Adds the owners and stacks of samples that wait. */
  public void mark(BitSet owners, BitSet stacks) {
    for (List<Sample> some : List.of(young, samples)) {
      for (Sample sample : some) {
        owners.set(sample.owner);
        Stacks.keep(sample.stack, stacks);
      }
    }
  }

  /** Gives stacks their weights, as far as they are known at this time, ns. */
  public void settle(long time) {
    giveOwn();
    if (secondBegan != Long.MIN_VALUE && time - secondBegan < SECOND) {
      return;
    }
    secondBegan = time;
    if (samples.isEmpty()) {
      giveUp(old);
    } else if (waits || samples.size() >= ENOUGH) {
      partRest();
      waits = false;
    } else {
      waits = true;
    }
    old = open;
  }

  /** No more will come: weight that waits for stacks has none. */
  public void end() {
    giveOwn();
    partRest();
    giveUp(open);
  }

  /** Gives stacks the weight of their own events, as far as the totals have them. */
  private void giveOwn() {
    young.removeIf(
        sample -> {
          boolean given = sample.weight <= open;
          if (given) {
            give(sample.owner, sample.stack, sample.weight);
            sampled += sample.weight;
            if (sample.others > 0) {
              samples.add(sample);
            }
          }
          return given;
        });
  }

  /** Parts the weight of events without a stack. */
  private void partRest() {
    double sum = samples.stream().mapToDouble(Sample::others).sum();
    long parted = sum * MOST < open ? (long) (sum * MOST) : open;
    double passed = 0;
    long given = 0;
    for (Sample sample : samples) {
      // Not each part is rounded, but all until here: so nothing is left.
      passed += sample.others;
      long until = passed >= sum ? parted : (long) (parted * (passed / sum));
      long others = until - given;
      give(sample.owner, sample.stack, others);
      sampled += others;
      products += (double) (sample.weight + others) * others;
      given = until;
    }
    samples.clear();
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
