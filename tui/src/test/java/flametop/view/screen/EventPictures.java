package flametop.view.screen;

import flametop.Copy;
import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Snapshot;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.view.base.Prompt;
import flametop.view.base.View;
import flametop.view.screen.Pictures.Frame;
import flametop.view.state.SourceList;
import flametop.view.state.SourceListing;
import flametop.view.state.ViewState;
import flametop.view.table.EventsTable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Pictures of sources of events: their table, the list to add one, and their measures. */
final class EventPictures {
  private static final long SECOND = 1_000_000_000L;
  private static final int FAULTS = 0;
  private static final int QUERIES = 2;
  private static final int CYCLES = 3;

  private EventPictures() {}

  /** The report with which all pictures are made: page faults are shown. */
  static EventsReport report() {
    return report(FAULTS);
  }

  /**
   * A source of bytes, one that is off, one whose times are weighed, one that is missing, and one
   * that is being attached.
   */
  static EventsReport report(int shown) {
    double none = Double.NaN;
    SourceTotals faults = totals(1_204_118, 1_204_118L * 5_031, 5_012, 3, 1_213_000, faults());
    SourceTotals throwing = totals(12, 12, 12, 0, 0, List.of(12L));
    SourceTotals queries = totals(88, 4_210_000_000L, 88, 0, 0, queries());
    String usdt = "usdt:/usr/lib/x86_64-linux-gnu/libstdc++.so.6:libstdcxx:throw";
    String query = "uretprobe:/usr/bin/postgres:exec_simple_query,weight=dur";
    String why =
        "cycles: this machine has no hardware counters; on a virtual machine its host passes them on or not";
    EventsReport.Row attaching =
        row(4, "kprobe:tcp_*", SourceState.OFF, "", Measure.EVENTS, SourceTotals.NONE, none, none);
    List<EventsReport.Row> rows =
        List.of(
            row(
                FAULTS,
                "fault,weight=bytes",
                SourceState.ON,
                "",
                Measure.BYTES,
                faults,
                2_431.2,
                0.0031),
            row(1, usdt, SourceState.OFF, "", Measure.EVENTS, throwing, 0, 0),
            row(QUERIES, query, SourceState.ON, "", Measure.DURATION, queries, 4.4, none),
            row(
                CYCLES,
                "cycles",
                SourceState.MISSING,
                why,
                Measure.EVENTS,
                SourceTotals.NONE,
                none,
                none),
            Copy.of(attaching, "attaching", true));
    return new EventsReport(
        shown,
        5,
        rows,
        shown < 0 ? new float[0] : weights(),
        Pictures.NOW,
        List.of(
            new EventsReport.Turn(Pictures.NOW - 250 * SECOND, "cycles", SourceState.ON),
            new EventsReport.Turn(Pictures.NOW - 40 * SECOND, "cycles", SourceState.OFF)));
  }

  private static EventsReport.Row row(
      int number,
      String spec,
      SourceState state,
      String why,
      Measure measure,
      SourceTotals totals,
      double perSecond,
      double cost) {
    return new EventsReport.Row(
        number,
        spec,
        false,
        state,
        why,
        measure,
        totals,
        totals.rate(),
        totals.weight() / 250,
        perSecond,
        cost);
  }

  private static SourceTotals totals(
      long hits, long weight, long taken, long lost, long rate, List<Long> histogram) {
    return new SourceTotals(hits, weight, taken, lost, 0, rate, 0, histogram);
  }

  /** Pages, and few that are huge. */
  private static List<Long> faults() {
    List<Long> hits = new ArrayList<>(Collections.nCopies(22, 0L));
    hits.set(12, 1_203_597L);
    hits.set(21, 521L);
    return hits;
  }

  /** Queries of 4 µs to 2 s. */
  private static List<Long> queries() {
    List<Long> hits = new ArrayList<>(Collections.nCopies(12, 0L));
    hits.addAll(List.of(3L, 9L, 14L, 21L, 12L, 8L, 2L, 0L, 1L, 4L, 6L, 3L, 2L, 1L, 0L, 0L, 1L));
    hits.addAll(List.of(0L, 0L, 1L));
    return hits;
  }

  private static float[] weights() {
    float[] weights = new float[300];
    for (int i = 0; i < weights.length; i++) {
      weights[i] = i < 60 ? Float.NaN : (float) (12e6 + 8e6 * Math.sin(i / 9.0));
    }
    return weights;
  }

  /** A picture of the measure of a source. */
  static Snapshot of(Snapshot s, int source) {
    return of(s, report(source));
  }

  /** A picture with these sources. */
  static Snapshot of(Snapshot s, EventsReport events) {
    EventsReport.Row shown = events.shownRow();
    Measure measure = shown == null ? Measure.TIME : shown.measure();
    return Copy.of(s, "context", Copy.of(s.live(), "measure", measure, "events", events));
  }

  private static SourceList listed(String typed, SourceListing.Row... rows) {
    return SourceList.OPENED
        .withPrompt(Prompt.of(typed))
        .withListing(
            new SourceListing(typed, List.of(rows), rows.length == 5 ? 214_718 : rows.length, ""));
  }

  private static SourceListing.Row source(String spec, String details) {
    return new SourceListing.Row(spec, details, "");
  }

  /** Sources of some kinds, one of them missing. */
  private static SourceListing.Row[] kinds() {
    return new SourceListing.Row[] {
      source("fault", "page faults; weight=bytes: the memory that they bring"),
      new SourceListing.Row("cycles", "", "this machine has no hardware counters"),
      source("tracepoint:block:block_rq_issue", "dev u32, sector u64, nr_sector u32, bytes u32"),
      source("usdt:/usr/lib/x86_64-linux-gnu/libstdc++.so.6:libstdcxx:throw", "arg0 to arg2"),
      source("kprobe:vfs_read", "arg0 to arg5")
    };
  }

  static List<Frame> golden() {
    ViewState first = Pictures.state().withView(View.EVENTS);
    ViewState faults = marked(first, FAULTS);
    ViewState typing = faults.withSources(listed("block", kinds()[2]));
    ViewState refused =
        faults.withSources(
            listed("fault,weigth=bytes", kinds()[0])
                .asking(5)
                .withTrouble("column 7: no option is called weigth; did you mean weight?")
                .at(6));
    List<Frame> frames = new ArrayList<>();
    frames.add(frame("events-80x24", first));
    frames.add(frame("events-200x60", faults));
    frames.add(frame("events-histogram-80x24", marked(first, QUERIES)));
    frames.add(frame("events-histogram-200x60", marked(first, QUERIES)));
    frames.add(frame("events-missing-80x24", marked(first, CYCLES)));
    frames.add(frame("events-attaching-80x24", marked(first, 4)));
    frames.add(frame("events-off-80x24", marked(first, 1)));
    frames.add(frame("events-40x10", first));
    frames.add(frame("events-help-80x24", first.withHelp(true)));
    frames.add(frame("events-add-80x24", faults.withSources(SourceList.OPENED)));
    frames.add(frame("events-list-80x24", faults.withSources(listed("", kinds()).moved(3))));
    frames.add(frame("events-list-200x60", faults.withSources(listed("", kinds()).moved(3))));
    frames.add(frame("events-search-80x24", typing));
    frames.add(frame("events-refused-80x24", refused));
    Snapshot time = Pictures.snapshot(Trees.server(), Pictures.state(), 80);
    frames.add(Pictures.frame("events-none-80x24", time, first));
    ViewState graph = Pictures.state().ofEvents(true);
    for (int source : new int[] {FAULTS, 1, QUERIES}) {
      frames.add(frame("measure-" + source + "-80x24", graph, source));
      frames.add(frame("measure-" + source + "-200x60", graph, source));
    }
    return frames;
  }

  private static ViewState marked(ViewState state, int number) {
    return EventsTable.TABLE.with(
        state, EventsTable.TABLE.place(state).withMarked(number, number + 1));
  }

  private static Frame frame(String name, ViewState state) {
    return frame(name, state, FAULTS);
  }

  private static Frame frame(String name, ViewState state, int source) {
    Snapshot snapshot = Pictures.snapshot(Trees.server(), state, Pictures.size(name)[0]);
    return Pictures.frame(name, of(snapshot, source), state);
  }
}
