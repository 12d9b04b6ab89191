package flametop.view.layout;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Zone;
import java.util.ArrayList;
import java.util.List;

/**
 * The columns of a table from the left, with a cell between two. Their places depend on nothing but
 * the width of the screen, so that nothing jumps.
 *
 * @param <C> what names a column
 */
public final class Columns<C> {
  /** Cells of a change: {@code ▲ +2.1%}. */
  public static final int CHANGE = 8;

  private record Column<C>(C id, String title, boolean right, int x, int width) {}

  private final List<Column<C>> columns = new ArrayList<>();
  private final int limit;
  private int end = 1;
  private boolean full;

  Columns() {
    this(Integer.MAX_VALUE);
  }

  /** From the first on that would reach beyond so many cells they are left out. */
  Columns(int limit) {
    this.limit = limit;
  }

  /** Adds one; a negative width is a column that has no room, and is left out. */
  Columns<C> left(C id, String title, int width) {
    return add(id, title, false, width);
  }

  /** The same for figures, which end at its right. */
  Columns<C> right(C id, String title, int width) {
    return add(id, title, true, width);
  }

  private Columns<C> add(C id, String title, boolean right, int width) {
    full |= width > 0 && end + width > limit;
    if (width > 0 && !full) {
      columns.add(new Column<>(id, title, right, end, width));
      end += width + 1;
    }
    return this;
  }

  /** Where the next one begins. */
  int end() {
    return end;
  }

  private Column<C> of(C id) {
    for (Column<C> column : columns) {
      if (column.id == id) {
        return column;
      }
    }
    return null;
  }

  /** -1 if it is left out. */
  public int x(C id) {
    Column<C> column = of(id);
    return column == null ? -1 : column.x;
  }

  /** 0 if it is left out. */
  public int width(C id) {
    Column<C> column = of(id);
    return column == null ? 0 : column.width;
  }

  /** The columns in a row of the screen, each with the cells before it. */
  List<Zone<C>> zones(int y) {
    List<Zone<C>> zones = new ArrayList<>();
    int from = 0;
    for (Column<C> column : columns) {
      int end = column.x + column.width + 1;
      zones.add(Zone.line(from, y, end - from, column.id));
      from = end;
    }
    return zones;
  }

  /** The titles; that by which rows are ordered stands out. */
  public void head(CellGrid grid, int y, C sorted) {
    for (Column<C> column : columns) {
      boolean by = column.id == sorted;
      int fg = Paint.of(by ? Role.ACCENT : Role.DIM);
      put(grid, column, y, column.title, fg, Paint.of(Role.GROUND), by ? CellGrid.BOLD : 0);
    }
  }

  /** Writes into a column of a row, unless it is left out. */
  public void put(CellGrid grid, C id, int y, String text, int fg, int bg, int attribute) {
    Column<C> column = of(id);
    if (column != null) {
      put(grid, column, y, text, fg, bg, attribute);
    }
  }

  private static void put(
      CellGrid grid, Column<?> column, int y, String text, int fg, int bg, int attribute) {
    int from = column.right ? Math.max(0, column.width - TextWidth.of(text)) : 0;
    grid.text(column.x + from, y, column.width - from, text, fg, bg, attribute);
  }
}
