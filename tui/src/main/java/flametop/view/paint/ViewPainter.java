package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.layout.Scene;

/** Paints a view below the header, down to the line of keys. */
public interface ViewPainter {
  void paint(Scene scene, CellGrid grid);
}
