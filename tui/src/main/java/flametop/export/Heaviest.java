package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * The heaviest stacks of an export, each in one state: what is worth a look first. A state has as
 * many as its share of all is, and at least two.
 *
 * @param entries heaviest first
 * @param states the value of each state, heaviest first; one without a state where none is known
 * @param stacks how many stacks the export has
 */
record Heaviest(List<Entry> entries, List<OfState> states, long stacks) {
  /** What is too light to have stacks of its own here, as a share of all. */
  private static final double LEAST_SHARE = 0.005;

  private static final int LEAST_ENTRIES = 2;

  private static final Comparator<Entry> LIGHTEST_FIRST = Comparator.comparingLong(Entry::value);

  /**
   * The part of a stack in one state.
   *
   * @param state null where it is not known
   * @param samples that saw it; 0 where that is not known
   */
  record Entry(FoldedStack stack, @Nullable State state, long value, long samples) {}

  /** The value of all stacks in one state. */
  record OfState(@Nullable State state, long value) {}

  /**
   * Looks for them.
   *
   * @param most how many entries
   */
  static Heaviest of(StackExport export, int most) {
    int unknown = State.values().length;
    List<PriorityQueue<Entry>> heaviest = new ArrayList<>();
    for (int state = 0; state <= unknown; state++) {
      heaviest.add(new PriorityQueue<>(LIGHTEST_FIRST));
    }
    long[] sums = new long[unknown + 1];
    long[] values = new long[unknown + 1];
    long[] samples = new long[unknown + 1];
    long stacks = 0;
    for (FoldedStack stack : export.stacks()) {
      stacks++;
      Arrays.fill(values, 0);
      Arrays.fill(samples, 0);
      for (FoldedStack.Share share : stack.shares()) {
        int state = share.state() == null ? unknown : share.state().ordinal();
        values[state] += share.value();
        samples[state] += share.samples();
      }
      values[unknown] += stack.shares().isEmpty() ? stack.value() : 0;
      for (int state = 0; state <= unknown; state++) {
        sums[state] += values[state];
        PriorityQueue<Entry> kept = heaviest.get(state);
        if (values[state] > 0 && (kept.size() < most || kept.element().value < values[state])) {
          State of = state == unknown ? null : State.values()[state];
          kept.add(new Entry(stack, of, values[state], samples[state]));
          if (kept.size() > most) {
            kept.remove();
          }
        }
      }
    }
    List<OfState> states = new ArrayList<>();
    for (int state = 0; state <= unknown; state++) {
      if (sums[state] > 0) {
        states.add(new OfState(state == unknown ? null : State.values()[state], sums[state]));
      }
    }
    states.sort(Comparator.comparingLong(OfState::value).reversed());
    List<Entry> entries = new ArrayList<>();
    for (OfState of : states) {
      double share = (double) of.value / Math.max(1, export.total());
      if (share >= LEAST_SHARE) {
        int number = of.state == null ? unknown : of.state.ordinal();
        PriorityQueue<Entry> kept = heaviest.get(number);
        int room = (int) Math.max(LEAST_ENTRIES, Math.floor(share * most));
        while (kept.size() > Math.min(room, most - entries.size())) {
          kept.remove();
        }
        entries.addAll(kept);
      }
    }
    entries.sort(LIGHTEST_FIRST.reversed());
    return new Heaviest(entries, states, stacks);
  }
}
