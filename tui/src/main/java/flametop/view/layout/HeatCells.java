package flametop.view.layout;

import flametop.profile.answer.HeatMap;
import flametop.profile.answer.TimeRange;
import flametop.view.base.View;
import flametop.view.state.PaintOptions;
import flametop.view.state.ViewState;
import org.jspecify.annotations.Nullable;

/**
 * The places of times on the heat map, which the strip of time is on demand: a column is a second,
 * and its cells follow each other from the bottom to the top.
 *
 * @param strip the columns
 * @param top the first row of the heat map on the screen
 * @param rows of the screen that the heat map takes
 * @param cells of a column
 * @param halves whether a row of the screen has two cells, the earlier one below
 */
public record HeatCells(TimeStrip strip, int top, int rows, int cells, boolean halves) {
  private static final long SECOND = 1_000_000_000L;

  /** So many cells a column can have: parts of a second that are whole cells of the history. */
  private static final int[] STEPS = {HeatMap.CELLS, 25, 10, 5};

  /** The rows of the screen that do not grow with its height; others share with the graph. */
  private static final int FIXED_ROWS = 10;

  /**
   * The heat map of a picture.
   *
   * @return null if the strip is none, or without room
   */
  public static @Nullable HeatCells of(Scene scene) {
    boolean halves = halves(scene.options);
    int cells = wanted(scene.state) ? cells(scene.rows, halves) : 0;
    TimeStrip strip = cells == 0 ? null : TimeStrip.of(scene);
    return strip == null
        ? null
        : new HeatCells(strip, scene.stripTop, scene.stripRows, cells, halves);
  }

  /** Whether the strip of a state is to be a heat map. */
  static boolean wanted(ViewState state) {
    return state.time().heat() && (state.view() == View.GRAPH || state.view() == View.CALLERS);
  }

  /** Whether a screen has room for a heat map. */
  public static boolean hasRoom(Scene scene) {
    return cells(scene.rows, halves(scene.options)) > 0;
  }

  /**
   * The rows of the strip of a state.
   *
   * @param rows of the screen
   * @param otherwise rows of a strip that is no heat map
   */
  static int stripRows(ViewState state, PaintOptions options, int rows, int otherwise) {
    boolean halves = halves(options);
    int cells = wanted(state) ? cells(rows, halves) : 0;
    return cells == 0 ? otherwise : rowsOf(cells, halves);
  }

  private static boolean halves(PaintOptions options) {
    return !options.ascii() && !options.plain();
  }

  private static int rowsOf(int cells, boolean halves) {
    return halves ? (cells + 1) / 2 : cells;
  }

  /** The cells of a column on a screen with so many rows; 0 without room. */
  private static int cells(int rows, boolean halves) {
    int room = (rows - FIXED_ROWS) / 2;
    for (int cells : STEPS) {
      if (rowsOf(cells, halves) <= room) {
        return cells;
      }
    }
    return 0;
  }

  /** How long a cell is, ns. */
  public long nanos() {
    return SECOND / cells;
  }

  /** The cell with a time. */
  public TimeRange cell(long time) {
    long from = Math.floorDiv(time, nanos()) * nanos();
    return new TimeRange(from, from + nanos());
  }

  /** A cell by the column of the screen and its number in that column, from 0 at the bottom. */
  public TimeRange cell(int x, int number) {
    long from = strip.at(x).from() + number * nanos();
    return new TimeRange(from, from + nanos());
  }

  /** The lower cell of a row of the screen, by its number in the column. */
  public int lower(int y) {
    int fromBottom = top + rows - 1 - y;
    return halves ? 2 * fromBottom : fromBottom;
  }

  /**
   * The time of a place on the screen: that of the cell, or of both cells of a row with halves.
   * Beside the heat map it is the time of the nearest place.
   */
  public TimeRange at(int x, int y) {
    int lower = Math.max(0, Math.min(cells - 1, lower(Math.max(top, Math.min(top + rows - 1, y)))));
    int upper = Math.min(cells - 1, halves ? lower + 1 : lower);
    return cell(x, lower).joined(cell(x, upper));
  }
}
