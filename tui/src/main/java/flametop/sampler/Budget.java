package flametop.sampler;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Holds flametop to a share of one CPU: decides by the cost so far how often there is a picture, a
 * pass, and a sample of the CPU clock. Used by one thread. A budget only decides; its owner applies
 * {@link #now()}.
 *
 * <p>Steps make a ladder. Down it go, one at a time, first the pictures, then their fine edges,
 * then the two clocks in turn. A step is taken when the cost since the last one was above the
 * budget; it is taken back when the cost would stay below even if it grew by as much as that step
 * had saved. So a steady load never makes it go to and fro.
 */
public final class Budget {
  /** The lowest rates that it goes to. */
  public static final int LEAST_PASS_HZ = 1;

  public static final int LEAST_CPU_HZ = 19;

  /** From one step to the next at least, ns. */
  static final long STEP_NANOS = 10_000_000_000L;

  /** CPU time that is spent so soon after a step, or after the start, is not counted, ns. */
  private static final long SETTLE_NANOS = 3_000_000_000L;

  private static final long SLOWEST_REFRESH_NANOS = 2_000_000_000L;

  /** A step is taken back if the cost is then expected below this part of the budget. */
  private static final double ROOM = 0.9;

  /** The saving by a step is uncertain by this factor. */
  private static final double DOUBT = 1.2;

  /**
   * The rates in force.
   *
   * @param refreshNanos between two pictures
   * @param fine edges are drawn in eighths of a cell
   * @param passHz passes a second
   * @param cpuHz rate of the CPU clock; 0: off
   */
  public record Pace(long refreshNanos, boolean fine, int passHz, int cpuHz) {}

  /**
   * The rates that the user asked for, which no step touches.
   *
   * @param refresh there is no screen, or its pace was given
   */
  public record Kept(boolean refresh, boolean passes, boolean cpuClock) {}

  /** A step that was taken: from where, and what part of the cost was left after it. */
  private static final class Step {
    final Pace from;
    final double costBefore;

    /** No step can leave less, so what went with it was the load's. */
    final double least;

    double left = Double.NaN;

    Step(Pace from, Pace to, double costBefore) {
      this.from = from;
      this.costBefore = costBefore;
      double passes = (double) to.passHz / from.passHz;
      double clock = from.cpuHz == 0 ? 1 : (double) to.cpuHz / from.cpuHz;
      least = Math.min(0.5, Math.min(passes, clock));
    }

    void measure(double cost) {
      if (Double.isNaN(left)) {
        left = Math.max(least, Math.min(1, cost / costBefore));
      }
    }
  }

  private final double share;
  private final List<Step> taken = new ArrayList<>();
  private Kept kept;
  private Pace pace;
  private boolean over;

  /** When counting began, and the cost then; -1 before the first. */
  private long since = -1;

  private long costThen;
  private long lastStep;

  /**
   * @param share of one CPU; {@link Double#POSITIVE_INFINITY}: no budget
   */
  public Budget(double share, Pace wanted, Kept kept) {
    this.share = share;
    this.kept = kept;
    pace = wanted;
  }

  /** The rates in force now. */
  public Pace now() {
    return pace;
  }

  /** Whether something is lower than was asked for. */
  public boolean lowered() {
    return !taken.isEmpty();
  }

  /** Somebody asked for another pace, which is kept from now on; what was lowered is taken back. */
  public void ask(Pace wanted) {
    Pace top = taken.isEmpty() ? pace : taken.get(0).from;
    kept =
        new Kept(
            kept.refresh || wanted.refreshNanos != pace.refreshNanos,
            kept.passes || wanted.passHz != pace.passHz,
            kept.cpuClock || wanted.cpuHz != pace.cpuHz);
    pace =
        new Pace(
            kept.refresh ? wanted.refreshNanos : top.refreshNanos,
            true,
            kept.passes ? wanted.passHz : top.passHz,
            kept.cpuClock ? wanted.cpuHz : top.cpuHz);
    taken.clear();
    since = -1;
  }

  /**
   * Takes what flametop has cost.
   *
   * @param time ns; of any clock that does not jump
   * @param costNanos CPU until then, ns
   * @return whether {@link #now()} is another than before
   */
  public boolean spent(long time, long costNanos) {
    if (Double.isInfinite(share)) {
      return false;
    }
    if (since < 0) {
      lastStep = time;
      since = time + SETTLE_NANOS;
      return false;
    }
    if (time <= since) {
      costThen = costNanos;
      return false;
    }
    if (time - lastStep < STEP_NANOS) {
      return false;
    }
    double cost = (double) (costNanos - costThen) / (time - since);
    Step last = taken.isEmpty() ? null : taken.get(taken.size() - 1);
    if (last != null) {
      last.measure(cost);
    }
    over = cost > share;
    Pace next = pace;
    if (over) {
      next = lower();
      if (!next.equals(pace)) {
        taken.add(new Step(pace, next, cost));
      }
    } else if (last != null && cost / last.left * DOUBT <= ROOM * share) {
      next = last.from;
      taken.remove(taken.size() - 1);
    }
    boolean changed = !next.equals(pace);
    pace = next;
    lastStep = time;
    since = time + (changed ? SETTLE_NANOS : 0);
    costThen = costNanos;
    return changed;
  }

  /** One step down from here; the same if there is none. */
  private Pace lower() {
    if (!kept.refresh && pace.refreshNanos < SLOWEST_REFRESH_NANOS) {
      long slower = Math.min(SLOWEST_REFRESH_NANOS, 2 * pace.refreshNanos);
      return new Pace(slower, pace.fine, pace.passHz, pace.cpuHz);
    }
    if (!kept.refresh && pace.fine) {
      return new Pace(pace.refreshNanos, false, pace.passHz, pace.cpuHz);
    }
    int pass = kept.passes ? pace.passHz : Math.max(LEAST_PASS_HZ, pace.passHz / 2);
    int cpu =
        kept.cpuClock || pace.cpuHz <= LEAST_CPU_HZ
            ? pace.cpuHz
            : Math.max(LEAST_CPU_HZ, pace.cpuHz / 2);
    // The clock that is further above its lowest rate goes first.
    boolean clockFirst =
        cpu < pace.cpuHz
            && (pass == pace.passHz
                || pace.cpuHz / LEAST_CPU_HZ >= pace.passHz / LEAST_PASS_HZ / 4);
    return clockFirst
        ? new Pace(pace.refreshNanos, pace.fine, pace.passHz, cpu)
        : new Pace(pace.refreshNanos, pace.fine, pass, pace.cpuHz);
  }

  /**
   * The rates that are lower than the user asked for, and why, in few words: {@code budget 5%:
   * picture 2 s, passes 9, clock 49 Hz}; empty if nothing is to be said.
   */
  public String said() {
    List<String> parts = new ArrayList<>();
    if (!taken.isEmpty()) {
      Pace asked = taken.get(0).from;
      if (pace.refreshNanos != asked.refreshNanos) {
        parts.add(
            String.format(Locale.ROOT, "picture %.1f s", pace.refreshNanos / 1e9)
                .replace(".0", ""));
      }
      if (pace.passHz != asked.passHz) {
        parts.add("passes " + asked.passHz + "→" + pace.passHz);
      }
      if (pace.cpuHz != asked.cpuHz) {
        parts.add("clock " + asked.cpuHz + "→" + pace.cpuHz);
      }
    }
    if (over && lower().equals(pace)) {
      parts.add(
          kept.passes || kept.cpuClock ? "over it, rates as given" : "over it, rates are lowest");
    }
    return parts.isEmpty()
        ? ""
        : "budget " + Math.round(share * 100) + "%: " + String.join(", ", parts);
  }
}
