package flametop.view.screen;

import flametop.view.base.CellGrid;
import flametop.view.layout.Scene;
import java.util.List;
import java.util.stream.IntStream;

/** The text of a picture. A wide character has two cells: the second one gives a blank. */
public final class PictureText {
  private PictureText() {}

  /** A row, as wide as the picture. */
  public static String row(CellGrid grid, int y) {
    StringBuilder text = new StringBuilder();
    for (int x = 0; x < grid.columns(); x++) {
      text.appendCodePoint(Math.max(' ', grid.codePoint(x, y)));
    }
    return text.toString();
  }

  public static String row(Scene scene, int y) {
    return row(Painter.paint(scene), y);
  }

  /** All rows, as wide as the picture. */
  public static List<String> rows(CellGrid grid) {
    return IntStream.range(0, grid.rows()).mapToObj(y -> row(grid, y)).toList();
  }

  /** All rows, a line each. */
  public static String of(Scene scene) {
    return String.join("\n", rows(Painter.paint(scene)));
  }
}
