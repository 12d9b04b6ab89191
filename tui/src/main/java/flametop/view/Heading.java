package flametop.view;

import java.util.List;

/**
 * The lines above a table, each with a row of its own: why something is not in it, what does not
 * work, what was done to the graph, the title. In a low window there is no title.
 */
final class Heading {
  private static final int LOW = 14;
  private static final int GROUND = Paint.of(Role.GROUND);

  private final List<String> missing;
  private final int notice;

  /** Row of the breadcrumb; -1 if there is none. */
  final int crumb;

  /** Row of the title; -1 if there is none. */
  final int title;

  /** The row below. */
  final int end;

  private Heading(Scene scene, int top, List<String> missing) {
    this.missing = missing;
    int y = top + missing.size();
    notice = scene.notices().isEmpty() ? -1 : y++;
    crumb = Breadcrumb.has(scene.state) ? y++ : -1;
    title = scene.rows < LOW ? -1 : y++;
    end = y;
  }

  /** The heading from a row on. */
  static Heading of(Scene scene, int top) {
    return new Heading(scene, top, List.of());
  }

  /** That of a table that fills the view, with why something is missing in it. */
  static Heading of(Scene scene, List<String> missing) {
    return new Heading(scene, 1, missing);
  }

  /**
   * Paints it.
   *
   * @param what the table has rows of
   * @param how they are ordered, or what else is to be said of them
   * @return where the line of the title goes on; 0 if there is none
   */
  int paint(Scene scene, CellGrid grid, String what, String how) {
    for (int i = 0; i < missing.size(); i++) {
      grid.text(1, 1 + i, scene.columns - 2, missing.get(i), Paint.of(Role.DIM), GROUND, 0);
    }
    if (notice >= 0) {
      Painter.rule(scene, grid, notice);
    }
    if (crumb >= 0) {
      Breadcrumb.paint(scene, grid, crumb);
    }
    return title < 0 ? 0 : title(grid, title, what, how);
  }

  /**
   * A line with a title.
   *
   * @return where the line goes on
   */
  private static int title(CellGrid grid, int row, String what, String how) {
    Painter.rule(grid, row);
    int room = grid.columns() - 2;
    int x = 1;
    grid.put(x++, row, ' ', GROUND, GROUND, 0);
    x += grid.text(x, row, room - x, what, Paint.of(Role.ACCENT), GROUND, CellGrid.BOLD);
    grid.fill(x, row, 2, GROUND);
    x += 2;
    x += grid.text(x, row, room - x, how, Paint.of(Role.DIM), GROUND, 0);
    grid.put(x, row, ' ', GROUND, GROUND, 0);
    return x + 1;
  }
}
