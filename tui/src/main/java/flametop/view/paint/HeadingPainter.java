package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.layout.Heading;
import flametop.view.layout.Scene;

/** Paints the lines above a table. */
public final class HeadingPainter {

  private HeadingPainter() {}

  /**
   * Paints it.
   *
   * @param what the table has rows of
   * @param how they are ordered, or what else is to be said of them
   * @return where the line of the title goes on; 0 if there is none
   */
  public static int paint(Heading heading, Scene scene, CellGrid grid, String what, String how) {
    for (int i = 0; i < heading.missing.size(); i++) {
      grid.text(1, 1 + i, scene.columns - 2, heading.missing.get(i), Paint.DIM, Paint.GROUND, 0);
    }
    if (heading.notice >= 0) {
      RulePainter.paint(scene, grid, heading.notice);
    }
    if (heading.crumb >= 0) {
      RulePainter.crumbs(scene, grid, heading.crumb);
    }
    return heading.title < 0 ? 0 : title(grid, heading.title, what, how);
  }

  /**
   * A line with a title.
   *
   * @return where the line goes on
   */
  private static int title(CellGrid grid, int row, String what, String how) {
    RulePainter.paint(grid, row);
    int room = grid.columns() - 2;
    int x = 1;
    grid.put(x++, row, ' ', Paint.GROUND, Paint.GROUND, 0);
    x += grid.text(x, row, room - x, what, Paint.ACCENT, Paint.GROUND, CellGrid.BOLD);
    grid.fill(x, row, 2, Paint.GROUND);
    x += 2;
    x += grid.text(x, row, room - x, how, Paint.DIM, Paint.GROUND, 0);
    grid.put(x, row, ' ', Paint.GROUND, Paint.GROUND, 0);
    return x + 1;
  }
}
