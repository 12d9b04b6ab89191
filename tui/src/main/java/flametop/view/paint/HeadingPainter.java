package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.layout.Heading;
import flametop.view.layout.Scene;

/** Paints the lines above a table. */
public final class HeadingPainter {

  private HeadingPainter() {}

  /**
   * Paints the lines.
   *
   * @param what the kind of the rows
   * @param how their order, or more words about them
   * @return the column behind the title; 0 without a title
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
   * Paints a line with a title.
   *
   * @return the column behind the title
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
