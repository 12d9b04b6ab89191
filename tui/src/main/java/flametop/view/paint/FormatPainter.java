package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.ExportFormat;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.layout.ListBox;
import flametop.view.layout.Scene;
import flametop.view.state.FormatList;
import java.util.List;

/** Paints the list of export formats over the view. */
public final class FormatPainter {
  private static final int NAMES = 12;

  private FormatPainter() {}

  public static void paint(Scene scene, CellGrid grid) {
    FormatList list = scene.state.formats();
    List<ExportFormat> formats = list.matching();
    ListBox box = ListBox.ofFormats(scene);
    ListPainter.paint(box, grid, "export as", list.prompt());
    int x = box.x;
    int width = box.width;
    for (int entry = box.first(); entry < box.end(); entry++) {
      ExportFormat format = formats.get(entry);
      boolean marked = entry == list.index();
      int y = box.row(entry);
      int bg = marked ? Paint.SELECTED_ROW : ListPainter.BACKGROUND;
      grid.fill(x, y, width, bg);
      grid.text(
          x + 1,
          y,
          Math.min(NAMES, width - 2),
          format.label(),
          Paint.of(marked ? Role.INK : Role.TEXT),
          bg,
          CellGrid.BOLD);
      grid.text(
          x + 1 + NAMES,
          y,
          width - 2 - NAMES,
          format.detail(),
          Paint.of(marked ? Role.INK : Role.DIM),
          bg,
          0);
    }
  }
}
