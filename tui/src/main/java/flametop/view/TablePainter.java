package flametop.view;

import flametop.profile.answer.StateSet;
import java.util.List;

/**
 * A table of many rows in a {@link TableArea}. Has no fields.
 *
 * @param <C> what names a column
 * @param <R> a row
 */
abstract class TablePainter<C, R> implements ViewPainter {
  static final int GROUND = Paint.of(Role.GROUND);
  static final int TEXT = Paint.of(Role.TEXT);
  static final int DIM = Paint.of(Role.DIM);
  static final int TROUGH = Paint.of(Role.CHROME);
  static final int PERCENT = 6;

  /** What it has rows of, and how many. */
  abstract String title(Scene scene);

  /** What they are ordered by. */
  abstract String order(Scene scene);

  /** The column that says so, or null. */
  abstract C sorted(Scene scene);

  abstract Columns<C> columns(Scene scene);

  /** States whose colours are in it; null for none. */
  abstract StateSet states(Scene scene);

  /** Null until they are there. */
  abstract List<R> rows(Scene scene);

  /** Index of the marked row, of one or more. */
  abstract int marked(Scene scene, List<R> rows);

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
    area.paint(scene, grid, title(scene), "first by " + order(scene), states(scene));
    Columns<C> columns = columns(scene);
    columns.head(grid, area.head, sorted(scene));
    List<R> rows = rows(scene);
    if (rows == null || rows.isEmpty()) {
      boolean opening = scene.snapshot == null;
      area.sentence(
          scene,
          grid,
          opening ? GraphPainter.opening(scene) : rows == null ? "counting…" : nothing(scene));
      return;
    }
    int marked = marked(scene, rows);
    int first = Rows.first(marked, rows.size(), area.room);
    for (int i = first; i < Math.min(rows.size(), first + area.room); i++) {
      int y = area.head + 1 + i - first;
      int bg = i == marked ? Paint.SELECTED_ROW : GROUND;
      if (i == marked) {
        grid.fill(0, y, scene.columns, bg);
      }
      row(scene, grid, columns, y, rows.get(i), i == marked, bg);
    }
    detail(scene, grid, area, rows.get(marked));
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
