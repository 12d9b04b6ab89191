package flametop.profile.answer;

import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The sources of events, immutable.
 *
 * @param shown number of the source whose measure is shown; {@link LiveSource#TIME}: none
 * @param rows by number
 */
public record EventsReport(int shown, List<Row> rows) implements Page {
  /** Asks for the sources of events. */
  public record Query() implements PageQuery {
    @Override
    public boolean isAnsweredBy(@Nullable Page page) {
      return page instanceof EventsReport;
    }
  }

  /**
   * A source of events.
   *
   * @param number in the stream
   * @param spec as it was asked for
   * @param why why it is missing, and what mends that; else empty
   * @param measure of its weights
   * @param totals since the start, or since {@code z}
   * @param hitsPerSecond lately; NaN if not known yet
   * @param weightPerSecond lately, in parts of the measure; NaN if not known yet
   * @param cost of one CPU, lately; NaN if not known
   */
  public record Row(
      int number,
      String spec,
      SourceState state,
      String why,
      Measure measure,
      SourceTotals totals,
      double hitsPerSecond,
      double weightPerSecond,
      double cost) {}

  public EventsReport {
    rows = List.copyOf(rows);
  }
}
