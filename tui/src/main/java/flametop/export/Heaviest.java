package flametop.export;

import flametop.profile.answer.FoldedStack;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
    // By ordinal of the state; last where it is not known.
    int unknown = State.values().length;
    List<PriorityQueue<Entry>> heaviest =
        Stream.generate(() -> new PriorityQueue<>(LIGHTEST_FIRST)).limit(unknown + 1).toList();
    long[] sums = new long[unknown + 1];
    long stacks = 0;
    for (FoldedStack stack : export.stacks()) {
      stacks++;
      for (FoldedStack.Share part : StackExport.byState(stack).values()) {
        int number = part.state() == null ? unknown : part.state().ordinal();
        sums[number] += part.value();
        PriorityQueue<Entry> kept = heaviest.get(number);
        if (kept.size() < most || kept.element().value < part.value()) {
          kept.add(new Entry(stack, state(number), part.value(), part.samples()));
          if (kept.size() > most) {
            kept.remove();
          }
        }
      }
    }
    List<OfState> states = new ArrayList<>();
    List<Entry> entries = new ArrayList<>();
    for (int number : heaviestFirst(sums)) {
      states.add(new OfState(state(number), sums[number]));
      double share = (double) sums[number] / Math.max(1, export.total());
      if (share >= LEAST_SHARE) {
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

  private static List<Integer> heaviestFirst(long[] sums) {
    return IntStream.range(0, sums.length)
        .filter(number -> sums[number] > 0)
        .boxed()
        .sorted(Comparator.comparingLong((Integer number) -> sums[number]).reversed())
        .toList();
  }

  private static @Nullable State state(int number) {
    return number == State.values().length ? null : State.values()[number];
  }
}
