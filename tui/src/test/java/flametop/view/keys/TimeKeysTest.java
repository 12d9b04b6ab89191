package flametop.view.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Moment;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.layout.TimeStrip;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.ScreenUser;
import flametop.view.screen.TimePictures;
import flametop.view.screen.Tree;
import flametop.view.screen.Trees;
import flametop.view.state.Step;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewActions;
import flametop.view.state.ViewState;
import flametop.view.state.Zoom;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

public class TimeKeysTest extends ScreenUser {
  private static final long SECOND = 1_000_000_000L;

  /** The pictures show this moment. */
  private static final long NOW = 4_000 * SECOND;

  private final Tree tree = Trees.server();

  @Override
  protected Scene scene() {
    return Scene.of(Pictures.snapshot(tree, state, 400), state, 400, 40, Pictures.options());
  }

  /** The range that is shown once a key was pressed. */
  private Optional<TimeRange> rangeAfter(Key key) {
    press(key);
    assertEquals(List.of(), effects);
    return state.moment().range();
  }

  private void left(int times) {
    for (int i = 0; i < times; i++) {
      press(Key.of(Key.Kind.LEFT));
    }
  }

  @Test
  void ends_movedApart_rangeIsBetweenThem() {
    type("t");
    assertTrue(state.time().on());
    assertEquals(Optional.empty(), state.moment().range());
    left(10);
    type("]");
    left(20);
    type("[");
    assertEquals(
        Optional.of(new TimeRange(NOW - 30 * SECOND, NOW - 9 * SECOND)), state.moment().range());
    press(Key.of(Key.Kind.ENTER));
    assertFalse(state.time().on());
    assertEquals(21 * SECOND, state.moment().range().orElseThrow().nanos());
    left(1);
    assertFalse(state.time().on(), "the keys are the graph's again");
  }

  @Test
  void goTo_aTimeThatIsTyped_isTheRange() {
    type("T");
    type("-30s..-10s");
    assertTrue(PictureText.of(scene()).contains("go to -30s..-10s"));
    press(Key.of(Key.Kind.ENTER));
    assertEquals(
        Optional.of(new TimeRange(NOW - 30 * SECOND, NOW - 10 * SECOND)), state.moment().range());
    assertTrue(state.time().on(), "the cursor is there");
    assertEquals(NOW - 30 * SECOND, state.time().cursor());
  }

  @Test
  void goTo_noTimeOrOneBeforeTheStart_isRefusedAndCanBeMended() {
    type("Tnoon");
    press(Key.of(Key.Kind.ENTER));
    assertTrue(state.message().contains("'noon' is no time"), state.message());
    assertEquals(Optional.empty(), state.moment().range());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(TimeChoice.NONE, state.time());
    type("T-3h");
    press(Key.of(Key.Kind.ENTER));
    assertTrue(state.message().contains("that is before"), state.message());
    assertEquals(Optional.empty(), state.moment().range());
  }

  @Test
  void cursor_beforeTheStrip_takesTheStripAlong() {
    TimeStrip strip = TimeStrip.of(scene());
    state = state.withTime(state.time().withCursor(NOW - 2_000 * SECOND));
    TimeStrip back = TimeStrip.of(scene());
    int x = back.column(NOW - 2_000 * SECOND);
    assertTrue(back.at(x).overlaps(new TimeRange(NOW - 2_000 * SECOND, NOW - 2_000 * SECOND + 1)));
    assertTrue(x > back.left() && x < back.left() + back.columns() - 1);
    assertTrue(back.newest() < strip.newest());
  }

  @Test
  void end_onTheWrongSide_otherFollows() {
    type("t");
    left(20);
    type("[");
    left(20);
    type("]");
    assertEquals(
        Optional.of(new TimeRange(NOW - 40 * SECOND, NOW - 39 * SECOND)), state.moment().range());
  }

  @Test
  void escape_dropsCursorAndRange_thenTheGraphsSteps() {
    type("t[");
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(TimeChoice.NONE, state.time());
    type("t[");
    press(Key.of(Key.Kind.ENTER));
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(Optional.empty(), state.moment().range());
  }

  @Test
  void drag_onTheStrip_choosesARangeWhereverItGoes() {
    TimeStrip strip = TimeStrip.of(scene());
    int x = strip.left() + strip.columns() - 11;
    int y = scene().stripTop;
    mouse(Mouse.Kind.PRESS, x, y);
    assertTrue(state.time().on());
    assertEquals(Optional.empty(), state.moment().range(), "a click puts the cursor there");
    mouse(Mouse.Kind.DRAG, x - 5, y - 8);
    assertEquals(
        Optional.of(new TimeRange(NOW - 15 * SECOND, NOW - 9 * SECOND)), state.moment().range());
    mouse(Mouse.Kind.DRAG, x + 5, y);
    assertEquals(
        Optional.of(new TimeRange(NOW - 10 * SECOND, NOW - 4 * SECOND)), state.moment().range());
    mouse(Mouse.Kind.RELEASE, x + 5, y);
    mouse(Mouse.Kind.DRAG, x, y);
    assertEquals(
        Optional.of(new TimeRange(NOW - 10 * SECOND, NOW - 4 * SECOND)), state.moment().range());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(TimeChoice.NONE, state.time());
  }

  @Test
  void end_moved_graphIsOfTheRange() {
    type("t");
    left(10);
    assertEquals(Optional.of(TimePictures.range(10, 9)), rangeAfter(Key.of(']')));
    assertEquals(Optional.of(TimePictures.range(10, 9)), rangeAfter(Key.of(']')), "again");
    left(20);
    assertEquals(Optional.of(TimePictures.range(30, 9)), rangeAfter(Key.of('[')));
    assertEquals(Optional.of(TimePictures.range(30, 9)), rangeAfter(Key.of(Key.Kind.ENTER)));
    assertEquals(Optional.empty(), rangeAfter(Key.of(Key.Kind.ESCAPE)));
    assertEquals(Optional.empty(), rangeAfter(Key.of(Key.Kind.ESCAPE)));
  }

  @Test
  void time_again_dropsTheRange() {
    type("t[");
    assertTrue(state.moment().range().isPresent());
    assertEquals(Optional.empty(), rangeAfter(Key.of('t')));
    assertEquals(TimeChoice.NONE, state.time());
  }

  @Test
  void escape_afterZoomAndSearch_dropsTheRangeLast() {
    type("t[");
    press(Key.of(Key.Kind.ENTER));
    state = state.zoomedTo(new Zoom(3, null));
    assertTrue(rangeAfter(Key.of(Key.Kind.ESCAPE)).isPresent());
    assertTrue(state.zooms().isEmpty());
    assertEquals(Optional.empty(), rangeAfter(Key.of(Key.Kind.ESCAPE)));
  }

  @Test
  void window_withARange_endsItAndStays() {
    type("t[");
    Moment lately = state.moment().withoutRange();
    for (View view : View.values()) {
      ViewState ranged = state.withView(view);
      if (ViewActions.of(view, Origin.LIVE).has(Action.WINDOW)) {
        Step step =
            Keys.press(
                Scene.of(Snapshot.OPENING, ranged, 100, 40, Pictures.options()), Key.of('m'));
        assertEquals(lately, step.state().moment(), view.label());
      }
    }
  }

  @Test
  void restart_withARangeFrozen_isLiveAgain() {
    type("t[ z");
    assertEquals(Optional.empty(), state.moment().range());
    assertFalse(state.moment().frozen());
  }

  @Test
  void freeze_withARange_keepsIt() {
    type("t[");
    Moment ranged = state.moment();
    press(Key.of(' '));
    assertEquals(ranged.withFrozen(true), state.moment());
    press(Key.of(' '));
    assertEquals(ranged, state.moment());
  }

  @Test
  void drag_staysWithinAColumn_movesTheRangeOnce() {
    TimeStrip strip = TimeStrip.of(scene());
    int x = strip.left() + 5;
    int y = scene().stripTop;
    mouse(Mouse.Kind.PRESS, x, y);
    mouse(Mouse.Kind.DRAG, x + 1, y);
    Moment once = state.moment();
    mouse(Mouse.Kind.DRAG, x + 1, y + 1);
    assertEquals(once, state.moment());
    mouse(Mouse.Kind.DRAG, x + 2, y);
    Moment twice = state.moment();
    assertNotEquals(once, twice);
    mouse(Mouse.Kind.RELEASE, x + 2, y);
    assertEquals(twice, state.moment());
  }

  @Test
  void mark_clicked_endsTheRange() {
    ViewState ranged = TimePictures.choosing(state, new TimeRange(NOW - 9 * SECOND, NOW - SECOND));
    for (int columns : new int[] {80, 120, 200}) {
      Scene scene =
          Scene.of(
              TimePictures.ranged(tree, ranged, columns, 9, 1),
              ranged,
              columns,
              40,
              Pictures.options());
      int x = PictureText.row(Painter.paint(scene), 0).indexOf("range 8 s, 1 s ago");
      assertTrue(x > 0);
      assertEquals(
          state.moment(), Keys.mouse(scene, new Mouse(Mouse.Kind.PRESS, x, 0)).state().moment());
    }
  }

  @Test
  void header_ofAViewOfThePresent_claimsNoRange() {
    ViewState ranged = TimePictures.choosing(state, new TimeRange(NOW - 9 * SECOND, NOW - SECOND));
    for (View view : new View[] {View.GRAPH, View.CPUS, View.IDLE, View.QUALITY}) {
      ViewState there = ranged.withView(view);
      Scene scene =
          Scene.of(TimePictures.ranged(tree, there, 200, 9, 1), there, 200, 40, Pictures.options());
      assertEquals(
          view == View.GRAPH,
          PictureText.row(Painter.paint(scene), 0).contains("range 8 s"),
          view.label());
    }
  }

  @Test
  void choice_whereOnlySumsAreLeft_saysWhatTheGraphIsOf() {
    ViewState ranged = TimePictures.choosing(state, TimePictures.range(50, 40));
    assertTrue(
        choice(TimePictures.ranged(tree, ranged, 200, 50, 40), ranged)
            .contains("the graph shows it"));
    assertTrue(
        choice(TimePictures.ranged(tree, ranged, 200, 70, 40), ranged)
            .contains("the graph: from 70 s to 40 s ago"));
    assertFalse(
        choice(Pictures.snapshot(tree, ranged, 200), ranged).contains("the graph"),
        "it is not of the range yet");
  }

  private static String choice(Snapshot snapshot, ViewState state) {
    Scene scene = Scene.of(snapshot, state, 200, 40, Pictures.options());
    return PictureText.row(scene, scene.stripTop - 1);
  }

  @Test
  void move_atTheEnds_saysSo() {
    type("t");
    press(Key.of(Key.Kind.RIGHT));
    assertEquals("this is the present", state.message());
    press(Key.of(Key.Kind.HOME));
    press(Key.of(Key.Kind.LEFT));
    assertEquals("nothing further back", state.message());
  }

  @Test
  void strip_columns_areTheTimesThatTheyShow() {
    TimeStrip strip = TimeStrip.of(scene());
    assertEquals(1, strip.seconds());
    int last = strip.left() + strip.columns() - 1;
    assertEquals(new TimeRange(NOW, NOW + SECOND), strip.at(last));
    assertEquals(strip.at(last), strip.at(10_000), "beside it: the nearest");
    for (int x = strip.left(); x <= last; x++) {
      assertEquals(x, strip.column(strip.at(x).from()));
      assertEquals(x, strip.column(strip.at(x).to() - 1));
    }
  }

  @Test
  void mean_ofARange_countsTheSecondsInItThatAreKnown() {
    float[] values = {1, 2, 3, Float.NaN};
    assertEquals(2.5, TimeStrip.mean(values, NOW, new TimeRange(NOW - 2 * SECOND, NOW + SECOND)));
    assertEquals(1, TimeStrip.mean(values, NOW, new TimeRange(0, NOW - 2 * SECOND)));
    assertTrue(Double.isNaN(TimeStrip.mean(values, NOW, new TimeRange(NOW, NOW + SECOND))));
    assertTrue(Double.isNaN(TimeStrip.mean(new float[0], NOW, new TimeRange(0, NOW))));
  }
}
