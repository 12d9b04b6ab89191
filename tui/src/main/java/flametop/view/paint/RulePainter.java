package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.TextWidth;
import flametop.view.base.Zone;
import flametop.view.layout.Breadcrumb;
import flametop.view.layout.Piece;
import flametop.view.layout.Scene;
import java.util.List;

/** Paints the lines between panels, and the words in them. */
final class RulePainter {

  private RulePainter() {}

  /** Paints a line between panels with the notices, else with the breadcrumb. */
  static void paint(Scene scene, CellGrid grid, int row) {
    paint(grid, row);
    List<String> notices = scene.notices();
    if (notices.isEmpty() && scene.state.hasCrumbs()) {
      crumbs(scene, grid, row);
    }
    if (!notices.isEmpty()) {
      int n = notices.size();
      String others = n > 1 ? " (" + n + " notices; ? shows them)" : "";
      grid.fill(0, row, scene.columns, Paint.GROUND);
      int room = scene.columns - 2 - TextWidth.of(others);
      new Words(grid, 1, row, scene.columns, Paint.GROUND)
          .write(room, notices.get(n - 1), Paint.WORSE, CellGrid.BOLD)
          .write(others, Paint.DIM);
    }
  }

  static void paint(CellGrid grid, int row) {
    for (int x = 0; x < grid.columns(); x++) {
      grid.put(x, row, '─', Paint.faded(Paint.DIM), Paint.GROUND, 0);
    }
  }

  /** Paints the breadcrumb. */
  static void crumbs(Scene scene, CellGrid grid, int row) {
    paint(grid, row);
    Breadcrumb crumbs = Breadcrumb.of(scene, row);
    for (Zone<Piece> zone : crumbs.pieces()) {
      Piece piece = zone.what();
      int bold = piece.bold() ? CellGrid.BOLD : 0;
      grid.text(
          zone.x(), row, zone.width(), piece.text(), Paint.of(piece.role()), Paint.GROUND, bold);
    }
    grid.put(1, row, ' ', Paint.GROUND, Paint.GROUND, 0);
    if (crumbs.end() < scene.columns) {
      grid.put(crumbs.end(), row, ' ', Paint.GROUND, Paint.GROUND, 0);
    }
  }
}
