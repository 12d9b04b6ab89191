package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Zone;
import flametop.view.layout.HelpLayout;
import flametop.view.layout.Scene;
import java.util.List;

/** Paints the help over the view. */
public final class HelpPainter {

  private HelpPainter() {}

  /** Paints the keys of a view and its legend. */
  public static void paint(Scene scene, CellGrid grid, List<String[]> legend) {
    grid.fill(0, 1, scene.columns, scene.rows - 2, Paint.CHROME);
    HelpLayout layout = HelpLayout.of(scene, legend);
    int pages = layout.pages();
    int page = layout.page(scene);
    String title =
        page + 1 < pages
            ? "keys " + (page + 1) + "/" + pages + " — space: the next, any other key closes"
            : pages > 1
                ? "keys " + pages + "/" + pages + " — any key closes"
                : "keys — any key closes";
    grid.text(2, 1, scene.columns - 3, title, Paint.DIM, Paint.CHROME, 0);
    for (Zone<HelpLayout.Line> zone : layout.page(page)) {
      line(grid, zone);
    }
  }

  private static void line(CellGrid grid, Zone<HelpLayout.Line> zone) {
    int x = zone.x();
    int y = zone.y();
    int width = zone.width();
    if (zone.what() instanceof HelpLayout.Line.Title title) {
      grid.text(x, y, width, title.text(), Paint.ACCENT, Paint.CHROME, CellGrid.BOLD);
    } else if (zone.what() instanceof HelpLayout.Line.Entry entry) {
      int keys = HelpLayout.KEYS;
      grid.text(x, y, keys, entry.keys(), Paint.TEXT, Paint.CHROME, CellGrid.BOLD);
      Legend.swatch(grid, x, y, entry.keys());
      grid.text(x + keys + 1, y, width - keys - 1, entry.text(), Paint.DIM, Paint.CHROME, 0);
    } else {
      HelpLayout.Line.Notice notice = (HelpLayout.Line.Notice) zone.what();
      grid.text(x, y, width, notice.text(), Paint.WORSE, Paint.CHROME, 0);
    }
  }
}
