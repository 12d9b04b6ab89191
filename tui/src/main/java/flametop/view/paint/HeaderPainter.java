package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Zone;
import flametop.view.layout.Header;
import flametop.view.layout.Piece;
import flametop.view.layout.Scene;

/** Paints the first line. */
public final class HeaderPainter {

  private HeaderPainter() {}

  public static void paint(Scene scene, CellGrid grid) {
    grid.fill(0, 0, scene.columns, Paint.CHROME);
    for (Zone<Piece> zone : Header.zones(scene)) {
      Piece piece = zone.what();
      int bold = piece.bold() ? CellGrid.BOLD : 0;
      grid.text(
          zone.x(), 0, zone.width(), piece.text(), Paint.of(piece.role()), Paint.CHROME, bold);
    }
  }
}
