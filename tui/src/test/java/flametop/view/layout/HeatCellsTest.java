package flametop.view.layout;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.HeatMap;
import flametop.profile.answer.TimeRange;
import flametop.view.base.View;
import flametop.view.screen.HeatPictures;
import flametop.view.screen.Pictures;
import flametop.view.screen.Trees;
import flametop.view.state.ViewState;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeatCellsTest {
  private static final long SECOND = 1_000_000_000L;

  private static Scene scene(int columns, int rows, boolean ascii) {
    return scene(HeatPictures.mapped(Pictures.state(), HeatPictures.BURST), columns, rows, ascii);
  }

  private static Scene scene(ViewState state, int columns, int rows, boolean ascii) {
    int[] size = {columns, rows};
    return HeatPictures.scene(
        Pictures.snapshot(Trees.server(), state, columns),
        state,
        size,
        Pictures.options(ascii, false));
  }

  private static HeatCells map(int columns, int rows, boolean ascii) {
    return Objects.requireNonNull(HeatCells.of(scene(columns, rows, ascii)));
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4})
  void cells_anySize_areEachMomentOnce(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < 60; i++) {
      int columns = 40 + random.nextInt(200);
      int rows = 20 + random.nextInt(60);
      boolean ascii = random.nextBoolean();
      HeatCells map = map(columns, rows, ascii);
      String where = columns + "x" + rows + " ascii=" + ascii;
      assertEquals(0, map.nanos() % HeatMap.CELL_NANOS, where);
      assertEquals(SECOND, map.nanos() * map.cells(), where);
      int perRow = ascii ? 1 : 2;
      assertEquals((map.cells() + perRow - 1) / perRow, map.rows(), where);
      TimeStrip strip = map.strip();
      int x = strip.left() + random.nextInt(strip.columns());
      long next = strip.at(x).from();
      for (int cell = 0; cell < map.cells(); cell++) {
        TimeRange time = map.cell(x, cell);
        assertEquals(next, time.from(), where);
        assertEquals(time, map.cell(time.from()), where);
        assertEquals(time, map.cell(time.to() - 1), where);
        int y = map.top() + map.rows() - 1 - cell / perRow;
        assertEquals(cell - cell % perRow, map.lower(y), where);
        assertTrue(map.at(x, y).overlaps(time), where);
        assertTrue(map.at(x, y).nanos() <= perRow * map.nanos(), where);
        next = time.to();
      }
      assertEquals(strip.at(x).to(), next, where);
      assertEquals(map.at(x, map.top()), map.at(x, -5), "above it: the nearest, " + where);
    }
  }

  @Test
  void cells_tallerScreen_areShorter() {
    assertEquals(100, map(80, 24, false).nanos() / 1_000_000);
    assertEquals(40, map(120, 40, false).nanos() / 1_000_000);
    assertEquals(20, map(200, 60, false).nanos() / 1_000_000);
    assertEquals(200, map(80, 24, true).nanos() / 1_000_000, "a row is one cell");
  }

  @Test
  void of_anotherViewOrALowScreen_isNone() {
    ViewState state = HeatPictures.mapped(Pictures.state(), HeatPictures.BURST);
    assertNotNull(HeatCells.of(scene(state, 80, 16, false)));
    assertNull(HeatCells.of(scene(state, 80, 15, false)));
    assertNull(HeatCells.of(scene(state.withView(View.TOP), 80, 40, false)));
    assertEquals(3, scene(Pictures.state(), 80, 40, false).stripRows);
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 20, 24, 30, 40, 50, 60, 100})
  void graph_besideTheHeatMap_keepsSomeRows(int rows) {
    Scene scene = scene(100, rows, false);
    assertTrue(scene.graphRows >= 3, "rows=" + rows + " graph=" + scene.graphRows);
    assertTrue(scene.graphRows * 3 >= scene.stripRows * 2, "rows=" + rows);
  }
}
