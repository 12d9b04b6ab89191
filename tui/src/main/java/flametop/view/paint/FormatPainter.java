package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.ExportFormat;
import flametop.view.base.Paint;
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
    for (int entry = box.first(); entry < box.end(); entry++) {
      boolean marked = entry == list.index();
      ListPainter.entry(box, grid, entry, marked)
          .field(NAMES, formats.get(entry).label(), marked ? Paint.INK : Paint.TEXT, CellGrid.BOLD)
          .write(formats.get(entry).detail(), marked ? Paint.INK : Paint.DIM);
    }
  }
}
