package flametop.profile.live;

import flametop.array.LongColumn;
import flametop.profile.answer.Selection;
import flametop.profile.answer.StateSet;
import flametop.profile.log.Spot;
import flametop.profile.log.Stacks;
import flametop.profile.log.Sums;
import flametop.profile.log.Window;
import flametop.sampler.State;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntToLongFunction;

/**
 * Places time on stacks: how long each entry of a trie took in a window, by what is known of its
 * pool and by the samples in it.
 *
 * <p>A pool is what the graph shows below {@code all} (all processes of a comm, a process, a
 * thread). Three kinds of time are told apart in it: RUN, QUEUED, and off the CPU; a fourth is D
 * where the kernel counts it. Of each the pool has an amount T of which the stack is not known,
 * exact by the kernel's sums, and samples with weights: what each stands for, by the rate that was
 * in force. Samples with the weight w of W in all get T · w ÷ W. So the sums of a pool are exact,
 * shares are those of the samples, and nothing depends on where after a wake-up a sample came. Time
 * that is known to be a stack's, as between two passes which found a thread asleep, counts as it is
 * and is no part of T. Where there is no sample T goes where such known time is, and stays not
 * sampled where there is none either.
 *
 * <p>docs/estimator.md has the bias and the variance of it.
 */
final class Estimate {
  private static final int QUEUED = State.QUEUED.ordinal();
  private static final int OFF = 2;
  private static final int DISK = 3;
  private static final int CLASSES = 4;

  /** Bits of the states of a class; D is off the CPU unless it is counted. */
  private static final int[] STATES = {
    StateSet.ON_CPU.bits(),
    StateSet.of(State.QUEUED).bits(),
    StateSet.BLOCKED.bits(),
    StateSet.of(State.DISK).bits()
  };

  private final Sums sums;
  private final Trie trie;

  /**
   * By pool and class: the time to be placed, ns, and the weight of the samples that place the
   * time.
   */
  private final LongColumn known = new LongColumn();

  private final LongColumn weight = new LongColumn();

  /** By pool and class, ns: time whose stack is known. */
  private final LongColumn sure = new LongColumn();

  /** By pool and class: weight of the samples so far, and ns that they were given. */
  private final LongColumn passed = new LongColumn();

  private final LongColumn given = new LongColumn();

  /**
   * @param sums of the entries, by {@link Spot#kind}
   */
  Estimate(Sums sums, Trie trie) {
    this.sums = sums;
    this.trie = trie;
  }

  /** RUN and QUEUED are a class each, the first two; D is one where the kernel counts it. */
  private static int classOf(int state) {
    return state <= QUEUED ? state : state == State.DISK.ordinal() ? DISK : OFF;
  }

  /** The place of a state of a pool in the sums. */
  private int at(int pool, int state) {
    int of = classOf(state);
    return CLASSES * pool + (of == DISK && known.items[CLASSES * pool + DISK] == 0 ? OFF : of);
  }

  /** Bits of the states that have this place. */
  private int states(int at) {
    int of = at % CLASSES;
    boolean parted = of == OFF && known.items[at - OFF + DISK] != 0;
    return parted ? STATES[OFF] & ~STATES[DISK] : STATES[of];
  }

  /**
   * Estimates a window.
   *
   * @param amounts ns by slot of the sums
   * @param to takes ns by slot; made longer if it is too short
   * @return ns by slot
   */
  long[] of(IntToLongFunction amounts, long[] to) {
    long[] nanos = to.length >= sums.slots() ? to : new long[sums.slots() + (sums.slots() >> 2)];
    addUp(amounts, nanos);
    int count = trie.entries();
    for (int entry = 0; entry < count; entry++) {
      boolean open = trie.stack(entry) == Stacks.NOT_SAMPLED;
      for (int slot = sums.first(entry); slot >= 0; slot = sums.next(slot)) {
        int kind = sums.kind(slot);
        int at = at(trie.pool(entry), Spot.state(kind));
        boolean placed = known.items[at] > 0 && weight.items[at] + sure.items[at] > 0;
        if (Spot.isSampled(kind)) {
          nanos[slot] =
              placed && weight.items[at] > 0 ? part(at, nanos[slot], weight.items[at]) : 0;
        } else if (open) {
          nanos[slot] = placed ? 0 : nanos[slot];
        } else if (placed && weight.items[at] == 0 && isSure(entry)) {
          nanos[slot] += part(at, Math.max(0, nanos[slot]), sure.items[at]);
        }
      }
    }
    return nanos;
  }

  /** Adds up what is known of the pools; {@code to} takes the amounts. */
  private void addUp(IntToLongFunction amounts, long[] to) {
    int size = CLASSES * trie.pools();
    for (LongColumn column : List.of(known, weight, sure, passed, given)) {
      column.zero(size);
    }
    int count = trie.entries();
    for (int entry = 0; entry < count; entry++) {
      boolean open = trie.stack(entry) == Stacks.NOT_SAMPLED;
      int pool = CLASSES * trie.pool(entry);
      for (int slot = sums.first(entry); slot >= 0; slot = sums.next(slot)) {
        long amount = amounts.applyAsLong(slot);
        to[slot] = amount;
        int kind = sums.kind(slot);
        if (Spot.isSampled(kind)) {
          weight.items[pool + classOf(Spot.state(kind))] += amount;
        } else if (open) {
          known.items[pool + classOf(Spot.state(kind))] += amount;
        } else if (isSure(entry)) {
          // A close that lies before the window is below zero.
          sure.items[pool + classOf(Spot.state(kind))] += Math.max(0, amount);
        }
      }
    }
    for (int pool = 0; pool < size; pool += CLASSES) {
      if (known.items[pool + DISK] == 0) {
        weight.items[pool + OFF] += weight.items[pool + DISK];
        sure.items[pool + OFF] += sure.items[pool + DISK];
      }
    }
  }

  private boolean isSure(int entry) {
    return trie.stack(entry) != Stacks.STOLEN;
  }

  /** The next part of the time to be placed: all parts add up to that time. */
  private long part(int at, long more, long all) {
    passed.items[at] += more;
    long until =
        passed.items[at] == all
            ? known.items[at]
            : (long) ((double) passed.items[at] / all * known.items[at]);
    long part = until - given.items[at];
    given.items[at] = until;
    return part;
  }

  /**
   * The standard error of the time of some entries in the window that was estimated last: for each
   * pool T² p (1 − p) ÷ n, p their share of its n samples. What has all time of a pool is exact.
   *
   * @param part which entries these are
   * @param states that count, bits
   */
  Selection.Certainty certainty(IntPredicate part, int states, Window window) {
    int size = CLASSES * trie.pools();
    long[] all = new long[size];
    long[] samples = new long[size];
    long[] weights = new long[size];
    boolean[] whole = new boolean[size];
    boolean[] touched = new boolean[size];
    int count = trie.entries();
    for (int entry = 0; entry < count; entry++) {
      boolean its = part.test(entry);
      boolean open = trie.stack(entry) == Stacks.NOT_SAMPLED;
      for (int slot = sums.first(entry); slot >= 0; slot = sums.next(slot)) {
        int state = Spot.state(sums.kind(slot));
        int at = at(trie.pool(entry), state);
        touched[at] |= its && !open && (states & 1 << state) != 0;
        if (Spot.isSampled(sums.kind(slot))) {
          long seen = sums.samples(slot, window);
          all[at] += seen;
          if (its && (states & 1 << state) != 0) {
            samples[at] += seen;
            weights[at] += sums.amount(slot, window);
          }
        } else if (open && its) {
          int of = states(at);
          whole[at] |= (states & of) == of;
        }
      }
    }
    long seen = 0;
    double variance = 0;
    for (int at = 0; at < size; at++) {
      seen += samples[at];
      boolean exact = whole[at] && samples[at] == all[at];
      if (touched[at] && !exact && known.items[at] > 0 && weight.items[at] > 0) {
        // One sample more in it and one more beside it: of few samples the share is not sure.
        double n = all[at] + 2.0;
        double share = ((double) weights[at] / weight.items[at] * all[at] + 1) / n;
        variance += (double) known.items[at] * known.items[at] * share * (1 - share) / n;
      }
    }
    return new Selection.Certainty(seen, Math.round(Math.sqrt(variance)));
  }
}
