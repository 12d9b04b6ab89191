package flametop.view;

import java.util.List;

/** The list of export formats, over the graph. */
final class FormatPainter {
  private static final int BACKGROUND = Paint.of(Role.CHROME);
  private static final int NAMES = 12;

  private FormatPainter() {}

  private static int height(Scene scene) {
    return Math.min(Math.max(4, scene.graphRows), 2 + Math.max(1, ExportFormat.values().length));
  }

  private static int first(Scene scene, int formats) {
    int room = height(scene) - 1;
    return Math.max(0, Math.min(scene.state.formats().index() - room / 2, formats - room));
  }

  /** Index of the format in a row; -1 if there is none. */
  static int formatAt(Scene scene, int y) {
    int formats = scene.state.formats().matching().size();
    int row = y - scene.graphTop - 1;
    int format = first(scene, formats) + row;
    return row >= 0 && row < height(scene) - 1 && format < formats ? format : -1;
  }

  static void paint(Scene scene, CellGrid grid) {
    FormatList list = scene.state.formats();
    List<ExportFormat> formats = list.matching();
    int x = scene.columns >= 100 ? 4 : scene.columns >= 70 ? 2 : 0;
    int width = scene.columns - 2 * x;
    int top = scene.graphTop;
    int height = height(scene);
    for (int y = top; y < top + height; y++) {
      grid.fill(0, y, scene.columns, Paint.of(Role.GROUND));
      grid.fill(x, y, width, BACKGROUND);
    }
    int at = x + 1;
    at +=
        grid.text(
            at, top, width - 2, "export as ", Paint.of(Role.ACCENT), BACKGROUND, CellGrid.BOLD);
    PromptPainter.paint(grid, at, top, x + width - at - 1, list.prompt(), BACKGROUND);
    int room = height - 1;
    int first = first(scene, formats.size());
    for (int row = 0; row < room && first + row < formats.size(); row++) {
      ExportFormat format = formats.get(first + row);
      boolean marked = first + row == list.index();
      int y = top + 1 + row;
      int bg = marked ? Paint.SELECTED_ROW : BACKGROUND;
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
