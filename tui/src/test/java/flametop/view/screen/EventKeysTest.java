package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.Copy;
import flametop.profile.answer.EventsReport;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.view.base.Key;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.PaintOptions;
import flametop.view.state.SourceListing;
import flametop.view.state.Step;
import flametop.view.table.EventsTable;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The keys of sources of events: switches, the list to add one, the choice of the measure. */
class EventKeysTest extends ScreenUser {
  /** The number of the source that is asked for next. */
  private static final int NEXT = 5;

  private EventsReport report = EventPictures.report(LiveSource.TIME);
  private Origin origin = Origin.LIVE;

  @Override
  protected Scene scene() {
    PaintOptions options = Copy.of(Pictures.options(), "origin", origin);
    Snapshot snapshot = Pictures.snapshot(Trees.server(), state, 120);
    return Scene.of(EventPictures.of(snapshot, report), state, 120, 30, options);
  }

  /** The picture after the newest source has come to this. */
  private void arrives(SourceState to, String why) {
    List<EventsReport.Row> rows = new ArrayList<>(report.rows());
    String spec = ((Effect.SwitchOn) effects.get(0)).spec();
    rows.add(
        new EventsReport.Row(
            NEXT, spec, false, to, why, Measure.EVENTS, SourceTotals.NONE, 0, 0, 0, 0));
    report = Copy.of(report, "next", NEXT + 1, "rows", rows);
    Step step = Keys.arrived(scene());
    state = step.state();
    effects = step.effects();
  }

  @Test
  void space_onASource_switchesItOffOrOnOrTriesAgain() {
    type("9j ");
    assertEquals(List.of(new Effect.SwitchOff(0)), effects);
    type("j ");
    String usdt = "usdt:/usr/lib/x86_64-linux-gnu/libstdc++.so.6:libstdcxx:throw";
    assertEquals(List.of(new Effect.SwitchOn(1, usdt)), effects);
    type("jj ");
    assertEquals(List.of(new Effect.SwitchOn(3, "cycles")), effects);
    type("j ");
    assertEquals(List.of(), effects);
    assertEquals("it is still being attached", state.message());
  }

  @Test
  void space_onTime_saysThatTimeIsAlwaysCounted() {
    type("9 ");
    assertEquals(List.of(), effects);
    assertTrue(state.message().startsWith("time is always counted"), state.message());
    assertTrue(!state.moment().frozen());
  }

  @Test
  void remove_theShownSource_goesBackToTheStatesOfTime() {
    state = state.withStates(StateSet.OFF_CPU);
    type("v");
    assertEquals(List.of(new Effect.ShowMeasure(0)), effects);
    assertEquals(StateSet.ALL, state.states());
    report = EventPictures.report(0);
    type("9jx");
    assertEquals(List.of(new Effect.RemoveSource(0)), effects);
    assertEquals(StateSet.OFF_CPU, state.states());
    type("a");
    press(Key.ctrl('p'));
    assertEquals("fault,weight=bytes", state.sources().typed());
  }

  @Test
  void measure_fromAnyView_isTheNextThatCountsAndThenTime() {
    type("4v");
    assertEquals(View.TOP, state.view());
    assertEquals(List.of(new Effect.ShowMeasure(0)), effects);
    report = EventPictures.report(0);
    type("v");
    assertEquals(List.of(new Effect.ShowMeasure(1)), effects);
    report = EventPictures.report(2);
    type("v");
    assertEquals(List.of(new Effect.ShowMeasure(LiveSource.TIME)), effects);
    assertEquals("shows the time of tasks", state.message());
  }

  @Test
  void measure_withoutSources_saysWhereTheyAreAdded() {
    report = EventsReport.NONE;
    type("v");
    assertEquals("time is the only measure; 9 adds sources of events", state.message());
    assertEquals(List.of(), effects);
  }

  @Test
  void measure_whileTheOnlySourceIsBeingAttached_saysSo() {
    EventsReport.Row attaching = EventPictures.report(0).of(4);
    report = new EventsReport(LiveSource.TIME, 5, List.of(attaching), new float[0], 0, List.of());
    type("v");
    assertEquals("not yet: kprobe:tcp_* is still being attached", state.message());
    assertEquals(List.of(), effects);
  }

  @Test
  void add_typed_asksForOneListAtATime() {
    type("9a");
    assertEquals(List.of(new Effect.ListSources("")), effects);
    type("vfs");
    assertEquals(List.of(), effects);
    Step step = Keys.answered(state, new Effect.Answer.Sources(listing("", 9)));
    assertEquals(List.of(new Effect.ListSources("vfs")), step.effects());
    state = Keys.answered(step.state(), new Effect.Answer.Sources(listing("vfs", 2))).state();
    type(",weight=ret");
    assertEquals(List.of(), effects);
    press(Key.Kind.DOWN, Key.Kind.DOWN, Key.Kind.DOWN, Key.Kind.TAB);
    assertEquals("kprobe:1", state.sources().typed());
    press(Key.Kind.ESCAPE);
    assertNull(state.sources());
  }

  private static SourceListing listing(String text, int rows) {
    List<SourceListing.Row> all = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      all.add(new SourceListing.Row("kprobe:" + i, "", i == 0 ? "the kernel lacks it" : ""));
    }
    return new SourceListing(text, all, rows, "");
  }

  @Test
  void add_whatCounts_marksItInTheTable() {
    type("9afault:10k");
    press(Key.Kind.ENTER);
    assertEquals(List.of(new Effect.SwitchOn(NEXT, "fault:10k")), effects);
    arrives(SourceState.ON, "");
    assertNull(state.sources());
    assertEquals(NEXT, EventsTable.TABLE.place(state).marked());
    assertEquals("it counts; enter shows its graph", state.message());
  }

  @Test
  void add_whatCannotBeHad_losesNothingAndPointsAtTheColumn() {
    type("9afault,weigth=bytes");
    press(Key.Kind.ENTER);
    arrives(SourceState.MISSING, "column 7: no option is called weigth; did you mean weight?");
    assertEquals(List.of(new Effect.RemoveSource(NEXT)), effects);
    assertEquals("fault,weigth=bytes", state.sources().typed());
    assertEquals(6, state.sources().prompt().cursor());
    assertEquals(-1, state.sources().asked());
    String screen = PictureText.of(scene());
    assertTrue(screen.contains("no option is called weigth; did you mean weight?"), screen);
    type("x");
    assertEquals("", state.sources().trouble());
    assertEquals("fault,xweigth=bytes", state.sources().typed());
  }

  @Test
  void add_probesOfNoProcess_saysHowTheyAreListed() {
    type("9ausdt");
    state = Keys.answered(state, new Effect.Answer.Sources(listing("usdt", 0))).state();
    String screen = PictureText.of(scene());
    assertTrue(screen.contains("those of one process are listed after flametop -p PID"), screen);
    state = Keys.answered(state, new Effect.Answer.Sources(listing("usdt", 1))).state();
    screen = PictureText.of(scene());
    assertTrue(screen.contains("such as fault,weight=bytes"), screen);
  }

  @Test
  void add_aMissingRow_saysWhy() {
    type("9a");
    state = Keys.answered(state, new Effect.Answer.Sources(listing("", 2))).state();
    press(Key.Kind.DOWN, Key.Kind.ENTER);
    assertEquals("the kernel lacks it", state.message());
    press(Key.Kind.DOWN, Key.Kind.ENTER);
    assertEquals(List.of(new Effect.SwitchOn(NEXT, "kprobe:1")), effects);
    press(Key.Kind.ENTER);
    assertEquals("it is still being attached", state.message());
  }

  @Test
  void add_whatCountsAlready_isNotAddedTwice() {
    type("9a");
    state = Keys.paste(scene(), "fault,weight=bytes\n").state();
    press(Key.Kind.ENTER);
    assertEquals(List.of(), effects);
    assertEquals("fault,weight=bytes counts already", state.message());
    assertEquals(0, EventsTable.TABLE.place(state).marked());
  }

  @Test
  void switches_ofARecording_areRefusedInWords() {
    origin = Origin.RECORDING;
    for (String key : new String[] {" ", "a", "x"}) {
      type("9j" + key);
      assertEquals(
          "sources of events are switched only where this machine is sampled", state.message());
      assertEquals(List.of(), effects);
    }
    press(Key.Kind.ENTER);
    assertEquals(List.of(new Effect.ShowMeasure(2)), effects);
  }
}
