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
 * The heaviest stacks of an export, each in one state: what is worth a look first.
 *
 * @param entries heaviest first
 * @param states the value of each state, heaviest first; one without a state where none is known
 * @param stacks how many stacks the export has
 */
record Heaviest(List<Entry> entries, List<OfState> states, long stacks) {
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
    PriorityQueue<Entry> kept = new PriorityQueue<>(LIGHTEST_FIRST);
    int unknown = State.values().length;
    long[] sums = new long[unknown + 1];
    long[] values = new long[unknown + 1];
    long[] samples = new long[unknown + 1];
    long stacks = 0;
    for (FoldedStack stack : export.stacks()) {
      stacks++;
      Arrays.fill(values, 0);
      Arrays.fill(samples, 0);
      for (FoldedStack.Share share : stack.shares()) {
        values[share.state().ordinal()] += share.value();
        samples[share.state().ordinal()] += share.samples();
      }
      values[unknown] = stack.shares().isEmpty() ? stack.value() : 0;
      for (int state = 0; state <= unknown; state++) {
        sums[state] += values[state];
        if (values[state] > 0 && (kept.size() < most || kept.element().value < values[state])) {
          State of = state == unknown ? null : State.values()[state];
          kept.add(new Entry(stack, of, values[state], samples[state]));
          if (kept.size() > most) {
            kept.remove();
          }
        }
      }
    }
    List<Entry> entries = new ArrayList<>(kept);
    entries.sort(LIGHTEST_FIRST.reversed());
    List<OfState> states = new ArrayList<>();
    for (int state = 0; state <= unknown; state++) {
      if (sums[state] > 0) {
        states.add(new OfState(state == unknown ? null : State.values()[state], sums[state]));
      }
    }
    states.sort(Comparator.comparingLong(OfState::value).reversed());
    return new Heaviest(entries, states, stacks);
  }
}
