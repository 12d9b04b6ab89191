package flametop.profile.live;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.export.StackExport;
import flametop.export.StackFormat;
import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.Options;
import flametop.sampler.SourceState;
import flametop.sampler.State;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The weights of a source of events, beside the time of tasks. */
class EventMeasureTest extends ProfileFixture {
  private static final int FAULTS = 0;
  private static final int CALLS = 5;
  private static final int BYTES = 1;
  private static final int NANOS = 2;
  private static final int WAKE = 6;
  private static final int WAITS = 3;

  EventMeasureTest() {
    super("0", Options.DEFAULT);
  }

  /** A process that sleeps in poll, and has faults in fill and calls of poll. */
  @BeforeEach
  void stream() {
    send(
        new Batch(0, 1_000, true)
            .program(0, 10, "app")
            .app("main", "poll", "fill")
            .stack(0, 0, 1)
            .stack(1, 0, 2)
            .source(FAULTS, BYTES, "fault,weight=bytes")
            .source(CALLS, NANOS, "uretprobe:app:poll,weight=dur")
            .changed(1_000, 0, 0, 0, State.SLEEP, 1));
    send(
        new Batch(1, 1_100, true)
            .totals(FAULTS, 3, 12_288, 3, 0)
            .event(1_050, 0, 1, FAULTS, 4_096, 0)
            .event(1_060, 0, 1, FAULTS, 4_096, 0)
            .event(1_070, 0, 0, FAULTS, 4_096, 0)
            .totals(CALLS, 40, 1_000_000, 1, 500_000)
            .event(1_080, 0, 0, CALLS, 25_000, 500_000));
  }

  private Snapshot picture() throws Exception {
    return picture(graph(StateSet.ALL));
  }

  private Map<String, Long> folded() throws Exception {
    return amounts(StateSet.ALL);
  }

  private EventsReport report() throws Exception {
    return picture().live().events();
  }

  @Test
  void measure_ofASource_isInAllAnswers() throws Exception {
    profile.measure(FAULTS);
    assertEquals(Map.of("app;main;fill", 8_192L, "app;main;poll", 4_096L), folded());
    assertEquals(12_288, picture().total());
    assertEquals(Measure.BYTES, picture().measure());
    profile.measure(CALLS);
    // What few stacks stand for beyond their own events is parted every two seconds.
    assertEquals(Map.of("app;main;poll", 25_000L), folded());
    for (int second = 2; second < 5; second++) {
      send(new Batch(second, 1_100 * second, true));
    }
    assertEquals(Map.of("app;main;poll", 1_000_000L), folded());
    assertEquals("1.0 ms", picture().measure().text(picture().total()));
    assertEquals(1_000_000, processes(StateSet.ALL).get(0).weight());
  }

  @Test
  void measure_ofWaits_isInMicrosecondsWhereItIsExported() throws Exception {
    send(
        new Batch(2, 1_200, true)
            .source(WAKE, WAITS, "wake")
            .totals(WAKE, 1, 2_500_000, 1, 0)
            .event(1_150, 0, 0, WAKE, 2_500_000, 0));
    profile.measure(WAKE);
    assertEquals(Map.of("app;main;poll", 2_500_000L), folded());
    Measure measure = picture().measure();
    assertEquals("2.5 ms", measure.text(picture().total()));
    assertEquals("us", measure.unit());
    assertEquals(2_500, picture().total() / measure.parts());
  }

  @Test
  void measure_timeAgain_isAsBefore() throws Exception {
    Map<String, Long> before = folded();
    assertEquals(Map.of("app;main;poll", 100_000_000L), before);
    long node = picture().graph().node()[1];
    profile.measure(FAULTS);
    assertTrue(node != picture().graph().node()[1], "a node of another graph has another number");
    profile.measure(LiveSource.TIME);
    assertEquals(before, folded());
    assertEquals(Measure.TIME, picture().measure());
  }

  @Test
  void measure_noSuchSource_changesNothing() throws Exception {
    profile.measure(FAULTS);
    profile.measure(77);
    assertEquals(12_288, picture().total());
  }

  @Test
  void measure_whileFrozen_showsTheSameMoment() throws Exception {
    profile.show(Moment.ALL.withFrozen(true));
    send(
        new Batch(2, 1_200, true)
            .totals(FAULTS, 4, 16_384, 4, 0)
            .event(1_150, 0, 1, FAULTS, 4_096, 0));
    profile.measure(FAULTS);
    assertEquals(12_288, picture().total());
    profile.show(Moment.ALL);
    assertEquals(16_384, picture().total());
  }

  @Test
  void beginningAt_sourceIsShown_countsFromThere() throws Exception {
    profile.measure(FAULTS);
    long present = picture().live().time().graph().to();
    profile.show(Moment.ALL.beginningAt(present));
    assertEquals(0, picture().total());
    send(
        new Batch(2, 1_200, true)
            .totals(FAULTS, 5, 20_480, 5, 0)
            .event(1_150, 0, 1, FAULTS, 8_192, 0));
    assertEquals(Map.of("app;main;fill", 8_192L), folded());
  }

  @Test
  void ended_weightWithoutStacks_isNotSampled() throws Exception {
    send(new Batch(2, 1_200, true).totals(FAULTS, 4, 16_384, 4, 0));
    profile.ended(null);
    profile.measure(FAULTS);
    assertEquals(
        Map.of("[not sampled]", 4_096L, "app;main;fill", 8_192L, "app;main;poll", 4_096L),
        folded());
  }

  @Test
  void report_ofSources_hasTheirTotals() throws Exception {
    profile.measure(CALLS);
    EventsReport report = report();
    assertEquals(CALLS, report.shown());
    assertEquals(2, report.rows().size());
    EventsReport.Row calls = report.rows().get(1);
    assertEquals("uretprobe:app:poll,weight=dur", calls.spec());
    assertEquals(40, calls.totals().hits());
    assertEquals(500_000, calls.totals().rate());
    assertEquals(Measure.DURATION, calls.measure());
  }

  @Test
  void asked_beforeTheStreamTells_isListedAsBeingAttached() throws Exception {
    profile.asked(report().next(), "kprobe:vfs_read");
    EventsReport.Row row = report().of(CALLS + 1);
    assertTrue(row.attaching());
    assertEquals("kprobe:vfs_read", row.spec());
    assertEquals(CALLS + 2, report().next());
    send(new Batch(2, 1_200, true).source(CALLS + 1, 0, "kprobe:vfs_read"));
    assertTrue(report().of(CALLS + 1).is(SourceState.ON));
    assertEquals("kprobe:vfs_read", report().turns().get(2).spec());
    profile.asked(CALLS, "uretprobe:app:poll,weight=dur");
    assertTrue(report().of(CALLS).attaching());
    profile.ended(null);
    assertTrue(report().of(CALLS).is(SourceState.ON));
  }

  @Test
  void remove_theShownSource_givesWayToTimeAndStaysAway() throws Exception {
    Map<String, Long> time = folded();
    profile.measure(CALLS);
    profile.remove(CALLS);
    assertEquals(LiveSource.TIME, report().shown());
    assertEquals(Measure.TIME, picture().measure());
    send(
        new Batch(2, 1_200, true)
            .source(CALLS, NANOS, "uretprobe:app:poll,weight=dur")
            .totals(CALLS, 41, 2_000_000, 1, 500_000)
            .event(1_150, 0, 1, CALLS, 25_000, 500_000));
    assertEquals(List.of(FAULTS), report().rows().stream().map(EventsReport.Row::number).toList());
    assertEquals(CALLS + 1, report().next(), "a number is never used again");
    assertEquals(time.keySet(), folded().keySet());
  }

  @Test
  void report_bySecond_hasTheWeightsOfTheShownSource() throws Exception {
    assertEquals(0, report().weights().length);
    profile.measure(FAULTS);
    send(new Batch(2, 2_100, true).totals(FAULTS, 5, 20_480, 3, 0));
    float[] weights = report().weights();
    assertEquals(8_192, weights[weights.length - 1]);
    assertEquals(12_288, weights[weights.length - 2]);
    assertTrue(Float.isNaN(weights[weights.length - 4]));
  }

  @Test
  void report_weightWithoutStacks_isNotSampled() throws Exception {
    send(new Batch(2, 1_200, true).totals(FAULTS, 4, 16_384, 3, 0));
    profile.ended(null);
    assertEquals(4_096, report().of(FAULTS).notSampled());
    assertEquals(0.25, report().of(FAULTS).notSampledShare());
  }

  @Test
  void export_inEachFormat_saysTheMeasureAndItsUnit() throws Exception {
    profile.measure(FAULTS);
    Extract extract = extract();
    StackExport export = export(extract);
    for (StackFormat format : StackFormat.values()) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      assertEquals(2, format.write(export, out));
      boolean zipped = format == StackFormat.PPROF;
      InputStream in = new ByteArrayInputStream(out.toByteArray());
      String text = new String((zipped ? new GZIPInputStream(in) : in).readAllBytes(), UTF_8);
      assertTrue(text.contains("fault,weight=bytes, in bytes"), format + ": " + text);
      assertTrue(text.contains("3 events since the start, 12.0 KiB in all"), format + ": " + text);
      assertTrue(!text.contains("states: all"), format + ": " + text);
    }
    assertEquals(12_288, export.exactTotal());
    profile.show(Moment.last(1_000_000));
    assertEquals(Extract.NO_TOTAL, extract().exactTotal(), "the total is of more than this window");
  }
}
