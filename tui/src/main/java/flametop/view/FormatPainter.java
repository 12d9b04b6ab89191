package flametop.view;

import java.util.List;

/** The list of export formats, over the graph. */
final class FormatPainter {
  private static final int NAMES = 12;

  private FormatPainter() {}

  /** Where it stands. */
  static ListBox box(Scene scene) {
    FormatList list = scene.state.formats();
    int most = 2 + ExportFormat.values().length;
    return new ListBox(scene, 1, most, list.matching().size(), list.index());
  }

  static void paint(Scene scene, CellGrid grid) {
    FormatList list = scene.state.formats();
    List<ExportFormat> formats = list.matching();
    ListBox box = box(scene);
    box.paint(grid, "export as", list.prompt());
    int x = box.x;
    int width = box.width;
    for (int entry = box.first(); entry < box.end(); entry++) {
      ExportFormat format = formats.get(entry);
      boolean marked = entry == list.index();
      int y = box.row(entry);
      int bg = marked ? Paint.SELECTED_ROW : ListBox.BACKGROUND;
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
