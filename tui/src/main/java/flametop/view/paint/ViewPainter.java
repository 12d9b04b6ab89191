package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.layout.Scene;
import java.util.List;

/** Paints a view below the header, down to the line of keys. */
public interface ViewPainter {
  void paint(Scene scene, CellGrid grid);

  /**
   * The lines that the help explains beside the keys: a title, then a word and its meaning each.
   * Empty for none.
   */
  List<String[]> legend(Scene scene);
}
