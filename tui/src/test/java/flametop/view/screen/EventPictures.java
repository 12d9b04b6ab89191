package flametop.view.screen;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Snapshot;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.Pictures.Frame;
import flametop.view.state.ViewState;
import flametop.view.table.EventsTable;
import java.util.List;

/** Pictures of the table of sources of events. */
final class EventPictures {
  private EventPictures() {}

  /**
   * A source that is shown, one that is off, one whose times are weighed, and one that is missing.
   */
  static EventsReport report() {
    return new EventsReport(
        0,
        List.of(
            new EventsReport.Row(
                0,
                "fault,weight=bytes",
                SourceState.ON,
                "",
                Measure.BYTES,
                totals(1_204_118, 1_204_118L * 4_096, 5_012, 3),
                2_431.2,
                2_431.2 * 4_096,
                0.0031),
            new EventsReport.Row(
                1,
                "usdt:/usr/lib/x86_64-linux-gnu/libstdc++.so.6:libstdcxx:throw",
                SourceState.OFF,
                "",
                Measure.EVENTS,
                totals(12, 12, 12, 0),
                0,
                0,
                0),
            new EventsReport.Row(
                2,
                "uretprobe:/usr/bin/postgres:exec_simple_query,weight=dur",
                SourceState.ON,
                "",
                Measure.DURATION,
                totals(88, 4_210_000_000L, 88, 0),
                4.4,
                2e8,
                Double.NaN),
            new EventsReport.Row(
                3,
                "cycles",
                SourceState.MISSING,
                "cycles: this machine has no hardware counters; on a virtual machine its host passes them on or not",
                Measure.EVENTS,
                SourceTotals.NONE,
                Double.NaN,
                Double.NaN,
                Double.NaN)));
  }

  private static SourceTotals totals(long hits, long weight, long taken, long lost) {
    return new SourceTotals(hits, weight, taken, lost, 0, 0, 0, List.of());
  }

  static List<Frame> golden() {
    ViewState first = Pictures.state().withView(View.EVENTS);
    EventsTable table = EventsTable.TABLE;
    ViewState missing = table.with(first, table.place(first).withMarked(3, 4));
    return List.of(
        frame("events-80x24", first),
        frame("events-200x60", first),
        frame("events-missing-80x24", missing),
        frame("events-40x10", first),
        frame("events-help-80x24", first.withHelp(true)));
  }

  private static Frame frame(String name, ViewState state) {
    String[] size = name.substring(name.lastIndexOf('-') + 1).split("x");
    int columns = Integer.parseInt(size[0]);
    Snapshot snapshot = Pictures.snapshot(Pictures.server(), state, columns);
    return new Frame(
        name,
        Painter.paint(
            Scene.of(
                snapshot,
                report(),
                state,
                columns,
                Integer.parseInt(size[1]),
                Pictures.options())));
  }
}
