package flametop.view;

import flametop.profile.answer.StateSet;
import java.util.List;

/**
 * Where a table of many rows is, among what it has around it: the CPUs above it, a line with its
 * title, its heads, and the marked row in full below it.
 */
final class TableArea {
  /** From so many rows on the CPUs are above it. */
  private static final int CPU_ROWS = 20;

  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int CHROME = Paint.of(Role.CHROME);

  private final Heading heading;

  /** Row of the breadcrumb; -1 if there is none. */
  final int crumb;

  /** Row of the heads; the table follows. */
  final int head;

  /** Rows of the table in sight. */
  final int room;

  final int detail;
  final int detailRows;
  private final boolean cpus;

  private TableArea(Scene scene) {
    int y = scene.cpuTop;
    cpus = scene.rows >= CPU_ROWS && scene.options.origin() != Origin.FILE;
    y += cpus ? scene.cpuLayout.rows() : 0;
    heading = Heading.of(scene, y);
    crumb = heading.crumb;
    head = heading.end;
    detailRows = scene.rows < 24 ? 1 : 2;
    detail = scene.rows - 1 - detailRows;
    room = Math.max(1, detail - head - 1);
  }

  static TableArea of(Scene scene) {
    return new TableArea(scene);
  }

  /**
   * Paints all but the table itself, and what is told of its marked row.
   *
   * @param what it has rows of, and how many
   * @param how they are ordered
   * @param states whose colours are in it; null for none
   */
  void paint(Scene scene, CellGrid grid, String what, String how, StateSet states) {
    for (int y = 1; y < scene.rows; y++) {
      grid.fill(0, y, scene.columns, y >= detail && y < detail + detailRows ? CHROME : GROUND);
    }
    if (cpus) {
      CpuPainter.paint(scene, grid);
    }
    int x = heading.paint(scene, grid, what, how);
    if (x > 0 && states != null) {
      Legend.states(scene, grid, heading.title, x, states);
    }
    KeyLine.paint(scene, grid);
  }

  /** A sentence where there are no rows. */
  void sentence(Scene scene, CellGrid grid, String text) {
    int width = TextWidth.of(text);
    int x = Math.max(1, (scene.columns - width) / 2);
    grid.text(x, head + 1 + room / 2, scene.columns - x - 1, text, Paint.of(Role.TEXT), GROUND, 0);
  }

  /** One line of the marked row: what comes first stands out. */
  void detail(Scene scene, CellGrid grid, int line, String first, List<String> more) {
    if (line >= detailRows) {
      return;
    }
    int y = detail + line;
    int fg = Paint.of(line == 0 ? Role.ACCENT : Role.TEXT);
    int style = line == 0 ? CellGrid.BOLD : 0;
    int x = 1 + grid.text(1, y, scene.columns - 2, first, fg, CHROME, style);
    for (String text : more) {
      x += x > 1 ? 2 : 0;
      x += grid.text(x, y, scene.columns - 1 - x, text, Paint.of(Role.TEXT), CHROME, 0);
    }
  }

  /** Index of the row at a row of the screen; -1 if there is none. */
  int rowAt(int y, int marked, int count) {
    return Rows.at(y - head - 1, marked, count, room);
  }
}
