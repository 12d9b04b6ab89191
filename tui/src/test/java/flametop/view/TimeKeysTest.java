package flametop.view;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class TimeKeysTest {
  private static final long SECOND = 1_000_000_000L;

  /** The pictures show this moment. */
  private static final long NOW = 4_000 * SECOND;

  private final Tree tree = Pictures.server();
  private ViewState state = Pictures.state();

  private Scene scene() {
    return Scene.of(Pictures.snapshot(tree, state, 400), state, 400, 40, Pictures.options());
  }

  private void press(Key key) {
    state = Keys.press(scene(), key).state();
  }

  private void type(String text) {
    text.chars().forEach(c -> press(Key.of(c)));
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
    TimeStrip strip = TimePainter.strip(scene());
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

  private void mouse(Mouse.Kind kind, int x, int y) {
    state = Keys.mouse(scene(), new Mouse(kind, x, y)).state();
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
    TimeStrip strip = TimePainter.strip(scene());
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
