package flametop.profile.answer;

import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sources of events, immutable.
 *
 * @param shown number of the source whose measure is shown; {@link LiveSource#TIME}: none
 * @param next number for a new source
 * @param rows by number
 * @param weights of the shown source by second, oldest first, at most 300, the newest of {@code
 *     time}; empty if none is shown
 * @param time ns, CLOCK_MONOTONIC: the present
 * @param turns when sources were switched, the newest last
 */
public record EventsReport(
    int shown, int next, List<Row> rows, float[] weights, long time, List<Turn> turns) {
  /** There are no sources. */
  public static final EventsReport NONE =
      new EventsReport(LiveSource.TIME, 0, List.of(), new float[0], 0, List.of());

  /** How many seconds of weights are kept. */
  public static final int SECONDS = 3_600;

  /**
   * A source of events.
   *
   * @param number in the stream
   * @param spec as it was asked for
   * @param attaching whether it was switched on, and nothing came of that yet
   * @param why why it is missing, or counts only a part, and what mends that; else empty
   * @param measure of its weights
   * @param totals since the start, or since {@code z}
   * @param stackWeight the weight that one stack stands for, as far as it makes shares uncertain; 0
   *     if each event has its own
   * @param notSampled as much of the weight has no stack, and will have none
   * @param hitsPerSecond lately; NaN if not known yet
   * @param cost of one CPU, lately; NaN if not known
   */
  public record Row(
      int number,
      String spec,
      boolean attaching,
      SourceState state,
      String why,
      Measure measure,
      SourceTotals totals,
      double stackWeight,
      long notSampled,
      double hitsPerSecond,
      double cost) {
    /** A source of which nothing was counted. */
    public Row(
        int number,
        String spec,
        boolean attaching,
        SourceState state,
        String why,
        Measure measure) {
      this(
          number,
          spec,
          attaching,
          state,
          why,
          measure,
          SourceTotals.NONE,
          0,
          0,
          Double.NaN,
          Double.NaN);
    }

    public boolean is(SourceState other) {
      return !attaching && state.equals(other);
    }

    /** The share of the weight that has no stack, and will have none. */
    public double notSampledShare() {
      return totals.weight() <= 0 ? 0 : (double) notSampled / totals.weight();
    }
  }

  /**
   * A source was attached or detached, which may have stopped all CPUs for a moment.
   *
   * @param time ns, CLOCK_MONOTONIC
   */
  public record Turn(long time, String spec, SourceState to) {}

  public EventsReport {
    rows = List.copyOf(rows);
    turns = List.copyOf(turns);
  }

  /** The source with a number; null if there is none. */
  public @Nullable Row of(int number) {
    for (Row row : rows) {
      if (row.number == number) {
        return row;
      }
    }
    return null;
  }

  /** The source whose measure is shown; null: the time of tasks. */
  public @Nullable Row shownRow() {
    return of(shown);
  }

  /** The number of the measure after the shown one: time, then each source that counts. */
  public int after() {
    for (Row row : rows) {
      if (row.number > shown && !row.attaching && !row.state.equals(SourceState.MISSING)) {
        return row.number;
      }
    }
    return LiveSource.TIME;
  }
}
