package flametop.view.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.layout.TimeStrip;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.Pictures;
import flametop.view.screen.TimePictures;
import flametop.view.screen.Tree;
import flametop.view.state.Effect;
import flametop.view.state.Step;
import flametop.view.state.TimeChoice;
import flametop.view.state.ViewActions;
import flametop.view.state.ViewState;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

public class TimeKeysTest {
  private static final long SECOND = 1_000_000_000L;

  /** The pictures show this moment. */
  private static final long NOW = 4_000 * SECOND;

  private final Tree tree = Pictures.server();
  private ViewState state = Pictures.state();

  private Scene scene() {
    return Scene.of(Pictures.snapshot(tree, state, 400), state, 400, 40, Pictures.options());
  }

  private List<Effect> press(Key key) {
    Step step = Keys.press(scene(), key);
    state = step.state();
    return step.effects();
  }

  private void type(String text) {
    text.chars().forEach(c -> press(Key.of(c)));
  }

  private static Effect.Range range(long from, long to) {
    return new Effect.Range(NOW - from * SECOND, NOW - to * SECOND);
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
    assertNull(state.time().range());
    left(10);
    type("]");
    left(20);
    type("[");
    assertEquals(new TimeRange(NOW - 30 * SECOND, NOW - 9 * SECOND), state.time().range());
    press(Key.of(Key.Kind.ENTER));
    assertFalse(state.time().on());
    assertEquals(21 * SECOND, state.time().range().to() - state.time().range().from());
    left(1);
    assertFalse(state.time().on(), "the keys are the graph's again");
  }

  @Test
  void end_onTheWrongSide_otherFollows() {
    type("t");
    left(20);
    type("[");
    left(20);
    type("]");
    assertEquals(new TimeRange(NOW - 40 * SECOND, NOW - 39 * SECOND), state.time().range());
  }

  @Test
  void escape_dropsCursorAndRange_thenTheGraphsSteps() {
    type("t[");
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(TimeChoice.NONE, state.time());
    type("t[");
    press(Key.of(Key.Kind.ENTER));
    press(Key.of(Key.Kind.ESCAPE));
    assertNull(state.time().range());
  }

  @Test
  void drag_onTheStrip_choosesARangeWhereverItGoes() {
    TimeStrip strip = TimeStrip.of(scene());
    int x = strip.left() + strip.columns() - 11;
    int y = scene().stripTop;
    mouse(Mouse.Kind.PRESS, x, y);
    assertTrue(state.time().on());
    assertNull(state.time().range(), "a click puts the cursor there");
    mouse(Mouse.Kind.DRAG, x - 5, y - 8);
    assertEquals(new TimeRange(NOW - 15 * SECOND, NOW - 9 * SECOND), state.time().range());
    mouse(Mouse.Kind.DRAG, x + 5, y);
    assertEquals(new TimeRange(NOW - 10 * SECOND, NOW - 4 * SECOND), state.time().range());
    mouse(Mouse.Kind.RELEASE, x + 5, y);
    mouse(Mouse.Kind.DRAG, x, y);
    assertEquals(new TimeRange(NOW - 10 * SECOND, NOW - 4 * SECOND), state.time().range());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(TimeChoice.NONE, state.time());
  }

  private List<Effect> mouse(Mouse.Kind kind, int x, int y) {
    Step step = Keys.mouse(scene(), new Mouse(kind, x, y));
    state = step.state();
    return step.effects();
  }

  @Test
  void end_moved_graphIsOfTheRange() {
    type("t");
    left(10);
    assertEquals(List.of(range(10, 9)), press(Key.of(']')));
    assertEquals(List.of(), press(Key.of(']')), "the same again");
    left(20);
    assertEquals(List.of(range(30, 9)), press(Key.of('[')));
    assertEquals(List.of(), press(Key.of(Key.Kind.ENTER)));
    assertEquals(List.of(new Effect.EndRange()), press(Key.of(Key.Kind.ESCAPE)));
    assertEquals(List.of(), press(Key.of(Key.Kind.ESCAPE)));
  }

  @Test
  void time_again_dropsTheRange() {
    type("t[");
    assertEquals(List.of(new Effect.EndRange()), press(Key.of('t')));
    assertEquals(TimeChoice.NONE, state.time());
  }

  @Test
  void escape_afterZoomAndSearch_dropsTheRangeLast() {
    type("t[");
    press(Key.of(Key.Kind.ENTER));
    state = state.zoomedTo(new ViewState.Zoom(3, null));
    assertEquals(List.of(), press(Key.of(Key.Kind.ESCAPE)));
    assertTrue(state.zooms().isEmpty());
    assertEquals(List.of(new Effect.EndRange()), press(Key.of(Key.Kind.ESCAPE)));
  }

  @Test
  void window_withARange_endsItAndStays() {
    type("t[");
    int window = state.window();
    for (View view : View.values()) {
      ViewState ranged = state.withView(view);
      if (ViewActions.of(view, Origin.LIVE).has(Action.WINDOW)) {
        Step step = Keys.press(Scene.of(null, ranged, 100, 40, Pictures.options()), Key.of('m'));
        assertEquals(List.of(new Effect.EndRange()), step.effects(), view.label());
        assertEquals(window, step.state().window());
        assertNull(step.state().time().range());
      }
    }
  }

  @Test
  void restart_withARangeFrozen_isLiveAgain() {
    type("t[ z");
    assertNull(state.time().range());
    assertFalse(state.frozen());
  }

  @Test
  void freeze_withARange_keepsIt() {
    type("t[");
    TimeRange range = state.time().range();
    assertEquals(List.of(new Effect.Freeze()), press(Key.of(' ')));
    assertEquals(range, state.time().range());
    assertEquals(List.of(new Effect.Thaw()), press(Key.of(' ')));
    assertEquals(range, state.time().range());
  }

  @Test
  void drag_staysWithinAColumn_asksOnce() {
    TimeStrip strip = TimeStrip.of(scene());
    int x = strip.left() + 5;
    int y = scene().stripTop;
    mouse(Mouse.Kind.PRESS, x, y);
    assertEquals(1, mouse(Mouse.Kind.DRAG, x + 1, y).size());
    assertEquals(List.of(), mouse(Mouse.Kind.DRAG, x + 1, y + 1));
    assertEquals(1, mouse(Mouse.Kind.DRAG, x + 2, y).size());
    assertEquals(List.of(), mouse(Mouse.Kind.RELEASE, x + 2, y));
  }

  @Test
  void mark_clicked_endsTheRange() {
    ViewState ranged =
        state.withTime(TimeChoice.NONE.withRange(new TimeRange(NOW - 9 * SECOND, NOW - SECOND)));
    for (int columns : new int[] {80, 120, 200}) {
      Scene scene =
          Scene.of(
              TimePictures.ranged(tree, ranged, columns, 9, 1),
              ranged,
              columns,
              40,
              Pictures.options());
      int x = row(Painter.paint(scene), 0).indexOf("range 8 s, 1 s ago");
      assertTrue(x > 0);
      assertEquals(
          List.of(new Effect.EndRange()),
          Keys.mouse(scene, new Mouse(Mouse.Kind.PRESS, x, 0)).effects());
    }
  }

  @Test
  void header_ofAViewOfThePresent_claimsNoRange() {
    ViewState ranged =
        state.withTime(TimeChoice.NONE.withRange(new TimeRange(NOW - 9 * SECOND, NOW - SECOND)));
    for (View view : new View[] {View.GRAPH, View.CPUS, View.IDLE, View.QUALITY}) {
      ViewState there = ranged.withView(view);
      Scene scene =
          Scene.of(TimePictures.ranged(tree, there, 200, 9, 1), there, 200, 40, Pictures.options());
      assertEquals(
          view == View.GRAPH, row(Painter.paint(scene), 0).contains("range 8 s"), view.label());
    }
  }

  @Test
  void choice_whereOnlySumsAreLeft_saysWhatTheGraphIsOf() {
    ViewState ranged = state.withTime(TimeChoice.NONE.withRange(TimePictures.range(50, 40)));
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
    return row(Painter.paint(scene), scene.stripTop - 1);
  }

  public static String row(CellGrid grid, int y) {
    return IntStream.range(0, grid.columns())
        .mapToObj(x -> Character.toString(grid.codePoint(x, y)))
        .collect(Collectors.joining());
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
