package flametop.view.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.HeatMap;
import flametop.profile.answer.TimeRange;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.Paint;
import flametop.view.layout.HeatCells;
import flametop.view.layout.Scene;
import flametop.view.screen.HeatPictures;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.ScreenUser;
import flametop.view.screen.TimePictures;
import flametop.view.screen.Tree;
import flametop.view.screen.Trees;
import flametop.view.state.ViewState;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

public class HeatKeysTest extends ScreenUser {
  private static final long SECOND = 1_000_000_000L;
  private static final long MS = 1_000_000L;

  /** The pictures show this moment, and their screen has cells of 40 ms. */
  private static final long NOW = HeatPictures.NOW;

  private final Tree tree = Trees.server();
  private int rows = 40;

  @Override
  protected Scene scene() {
    int[] size = {120, rows};
    return HeatPictures.scene(Pictures.snapshot(tree, state, 120), state, size, Pictures.options());
  }

  private HeatCells map() {
    return Objects.requireNonNull(HeatCells.of(scene()));
  }

  private static TimeRange cell(long from) {
    return new TimeRange(from, from + 40 * MS);
  }

  private Optional<TimeRange> range() {
    return state.moment().range();
  }

  private String choice() {
    return PictureText.row(scene(), scene().stripTop - 1);
  }

  @Test
  void heatMap_twice_isTheStripAgain() {
    type("F");
    assertTrue(state.time().heat() && state.time().on());
    assertEquals(NOW - SECOND, state.time().cursor(), "the last second that is complete");
    assertEquals(13, scene().stripRows);
    type("F");
    assertFalse(state.time().heat() || state.time().on());
    assertEquals(3, scene().stripRows);
  }

  @Test
  void heatMap_withoutRoom_saysSo() {
    rows = 15;
    type("F");
    assertEquals("no room for a heat map", state.message());
    assertFalse(state.time().heat());
  }

  @Test
  void arrows_move_byCellsAndSeconds() {
    type("F");
    press(Key.of(Key.Kind.UP));
    assertEquals(NOW - 960 * MS, state.time().cursor());
    press(Key.of(Key.Kind.LEFT));
    assertEquals(NOW - 1_960 * MS, state.time().cursor());
    press(Key.of(Key.Kind.DOWN));
    press(Key.of(Key.Kind.DOWN));
    assertEquals(NOW - 2_040 * MS, state.time().cursor(), "below the bottom: the second before");
    press(Key.of(Key.Kind.RIGHT));
    press(Key.of(Key.Kind.PAGE_UP));
    assertEquals(NOW - 11_040 * MS, state.time().cursor());
    press(Key.of(Key.Kind.END));
    press(Key.of(Key.Kind.RIGHT));
    assertEquals("this is the present", state.message());
    press(Key.of(Key.Kind.HOME));
    press(Key.of(Key.Kind.DOWN));
    assertEquals("nothing further back", state.message());
  }

  @Test
  void enter_onACell_isItsGraph_andAgainLetsTheCursorGo() {
    state = HeatPictures.mapped(state, HeatPictures.BURST);
    press(Key.of(Key.Kind.ENTER));
    assertEquals(Optional.of(cell(HeatPictures.BURST)), range());
    press(Key.of(Key.Kind.UP));
    press(Key.of(Key.Kind.ENTER));
    assertEquals(Optional.of(cell(HeatPictures.BURST + 40 * MS)), range(), "another cell");
    press(Key.of(Key.Kind.ENTER));
    assertFalse(state.time().on());
    assertTrue(state.time().heat());
    assertEquals(Optional.of(cell(HeatPictures.BURST + 40 * MS)), range());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(Optional.empty(), range());
    assertTrue(state.time().heat(), "the heat map stays");
  }

  @Test
  void ends_ofARange_areThoseOfCells() {
    state = HeatPictures.mapped(state, NOW - 1_960 * MS);
    type("[");
    press(Key.of(Key.Kind.UP));
    press(Key.of(Key.Kind.UP));
    type("]");
    assertEquals(Optional.of(new TimeRange(NOW - 1_960 * MS, NOW - 1_840 * MS)), range());
    type("t");
    assertEquals(Optional.empty(), range());
    type("]");
    assertTrue(state.time().on(), "the cursor is there again");
    assertEquals(40 * MS, range().orElseThrow().nanos());
  }

  @Test
  void words_ofACell_sayItsTimeAndItsShare() {
    state = HeatPictures.mapped(state, HeatPictures.BURST);
    assertTrue(
        choice().matches("── [0-9:]{8}\\.44 to \\.48, 3\\.5 s ago: 1\\.00 of 2 cpu, 50\\.0% ─+"),
        choice());
    state = HeatPictures.mapped(state, NOW - 20 * SECOND + 440 * MS);
    assertTrue(choice().contains("(by passes)"), choice());
  }

  @Test
  void drag_overCells_choosesTheTimeBetweenThem() {
    type("F");
    HeatCells map = map();
    int x = map.strip().left() + map.strip().columns() - 5;
    int bottom = map.top() + map.rows() - 1;
    mouse(Mouse.Kind.PRESS, x, bottom);
    assertEquals(map.cell(x, 0).from(), state.time().cursor());
    mouse(Mouse.Kind.DRAG, x, bottom - 2);
    assertEquals(Optional.of(map.cell(x, 0).joined(map.cell(x, 5))), range());
    mouse(Mouse.Kind.DRAG, x + 1, bottom);
    assertEquals(Optional.of(map.cell(x, 0).joined(map.cell(x + 1, 1))), range());
    mouse(Mouse.Kind.RELEASE, x + 1, bottom);
    assertTrue(range().isPresent());
  }

  @Test
  void cells_whereOnlySumsAreLeft_areOneAndDim() {
    state = HeatPictures.mapped(state, NOW - 2 * SECOND);
    ViewState mapped = state;
    Scene old =
        Scene.of(
            TimePictures.old(tree, mapped, 120, 10),
            HeatPictures.map(),
            mapped,
            120,
            40,
            Pictures.options());
    HeatCells map = Objects.requireNonNull(HeatCells.of(old));
    var grid = Painter.paint(old);
    int burst = map.strip().column(NOW - 30 * SECOND);
    int paint = grid.background(burst, map.top() + 3);
    assertTrue(Paint.isFaded(paint));
    for (int y = map.top() + 1; y < map.top() + map.rows(); y++) {
      assertEquals(' ', grid.codePoint(burst, y), "y=" + y);
      assertEquals(paint, grid.background(burst, y), "y=" + y);
    }
    state = HeatPictures.mapped(state, NOW - 30 * SECOND + 200 * MS);
    String row =
        PictureText.row(
            Painter.paint(
                Scene.of(
                    TimePictures.old(tree, state, 120, 10),
                    HeatPictures.map(),
                    state,
                    120,
                    40,
                    Pictures.options())),
            old.stripTop - 1);
    assertTrue(row.contains("(of its second)"), row);
  }

  @Test
  void cells_brightness_growsWithTheBusyCpus() {
    type("F");
    HeatCells map = map();
    var grid = Painter.paint(scene());
    int full = map.strip().column(NOW - 30 * SECOND);
    int y = map.top() + 4;
    assertEquals(Paint.heat(0.95), grid.background(full, y));
    assertEquals(Paint.CHROME, grid.background(full + 1, y), "idle, and in the window");
    assertEquals(HeatMap.CELLS, HeatPictures.map().columns()[0].busy().length);
  }
}
