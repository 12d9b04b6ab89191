package flametop.view.paint;

import flametop.profile.answer.StateSet;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.base.Zone;
import flametop.view.layout.Columns;
import flametop.view.layout.Heading;
import flametop.view.layout.Scene;
import flametop.view.layout.TableArea;
import flametop.view.layout.TableLayout;
import java.util.List;

/**
 * A table of many rows in a {@link TableArea}. Has no fields.
 *
 * @param <C> what names a column
 * @param <R> a row
 */
public abstract class TablePainter<C, R> implements ViewPainter {
  static final int GROUND = Paint.of(Role.GROUND);
  static final int TEXT = Paint.of(Role.TEXT);
  static final int DIM = Paint.of(Role.DIM);
  static final int TROUGH = Paint.of(Role.CHROME);

  /** What it has rows of, and how many. */
  abstract String title(Scene scene);

  /** What they are ordered by. */
  abstract String order(Scene scene);

  /** The column that says so, or null. */
  abstract C sorted(Scene scene);

  /** Where heads and rows stand. */
  abstract TableLayout<C> layout(Scene scene);

  /** States whose colours are in it; null for none. */
  abstract StateSet states(Scene scene);

  /** Null until they are there. */
  abstract List<R> rows(Scene scene);

  /** A sentence where rows were asked for and there are none. */
  abstract String nothing(Scene scene);

  /**
   * One row, whose ground is painted.
   *
   * @param marked whether it is the one
   */
  abstract void row(
      Scene scene, CellGrid grid, Columns<C> columns, int y, R row, boolean marked, int bg);

  /** The marked row in full. */
  abstract void detail(Scene scene, CellGrid grid, TableArea area, R row);

  @Override
  public final void paint(Scene scene, CellGrid grid) {
    TableArea area = TableArea.of(scene);
    TableLayout<C> layout = layout(scene);
    around(scene, grid, area);
    layout.columns().head(grid, layout.head(), sorted(scene));
    List<R> rows = rows(scene);
    if (rows == null || rows.isEmpty()) {
      boolean opening = scene.snapshot == null;
      sentence(
          scene,
          grid,
          layout,
          opening ? GraphPainter.opening(scene) : rows == null ? "counting…" : nothing(scene));
      return;
    }
    int marked = layout.marked();
    for (Zone<Integer> zone : layout.rows(scene.columns)) {
      boolean isMarked = zone.what() == marked;
      int bg = isMarked ? Paint.SELECTED_ROW : GROUND;
      if (isMarked) {
        grid.fill(zone.x(), zone.y(), zone.width(), bg);
      }
      row(scene, grid, layout.columns(), zone.y(), rows.get(zone.what()), isMarked, bg);
    }
    detail(scene, grid, area, rows.get(marked));
  }

  /** All but the table itself, and what is told of its marked row. */
  private void around(Scene scene, CellGrid grid, TableArea area) {
    for (int y = 1; y < scene.rows; y++) {
      boolean detail = y >= area.detail && y < area.detail + area.detailRows;
      grid.fill(0, y, scene.columns, detail ? TROUGH : GROUND);
    }
    if (area.cpus) {
      CpuPanelPainter.paint(scene, grid);
    }
    Heading heading = area.heading;
    int x = HeadingPainter.paint(heading, scene, grid, title(scene), "first by " + order(scene));
    StateSet states = states(scene);
    if (x > 0 && states != null) {
      Legend.states(scene, grid, heading.title, x, states);
    }
    KeyLinePainter.paint(scene, grid);
  }

  /** A sentence where there are no rows. */
  private static void sentence(Scene scene, CellGrid grid, TableLayout<?> layout, String text) {
    int x = Math.max(1, (scene.columns - TextWidth.of(text)) / 2);
    int y = layout.top() + layout.room() / 2;
    grid.text(x, y, scene.columns - x - 1, text, TEXT, GROUND, 0);
  }

  /** One line of the marked row in full: what comes first stands out. */
  static void line(
      Scene scene, CellGrid grid, TableArea area, int line, String first, List<String> more) {
    if (line >= area.detailRows) {
      return;
    }
    int y = area.detail + line;
    int fg = line == 0 ? Paint.of(Role.ACCENT) : TEXT;
    int style = line == 0 ? CellGrid.BOLD : 0;
    int x = 1 + grid.text(1, y, scene.columns - 2, first, fg, TROUGH, style);
    for (String text : more) {
      x += x > 1 ? 2 : 0;
      x += grid.text(x, y, scene.columns - 1 - x, text, TEXT, TROUGH, 0);
    }
  }

  /** How many there are, and of how many where a search narrows them. */
  static String count(int matching, int all, String what) {
    String of = Units.right(Units.count(all), 3) + " " + what;
    return matching == all ? of : Units.count(matching) + " of " + of.strip();
  }

  /** A share in its column; what is nothing is quiet. */
  static <C> void share(
      CellGrid grid, Columns<C> columns, C column, int y, double share, int fg, int quiet, int bg) {
    if (columns.width(column) > 0) {
      String text = Units.tenths(share);
      columns.put(grid, column, y, text, text.equals("0.0%") ? quiet : fg, bg, 0);
    }
  }
}
