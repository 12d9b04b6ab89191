package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.state.PaintOptions;

/** A horizontal bar of parts, with edges in eighths of a cell. */
public final class Bar {
  private static final char[] LEFT_BLOCKS = {' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'};
  private static final char[] PLAIN = {'█', '▓', '▒', '░', '▚'};

  private Bar() {}

  /** The block that fills the left {@code eighths} (0 to 7) of a cell. */
  static char leftBlock(int eighths) {
    return LEFT_BLOCKS[eighths];
  }

  /**
   * @param parts shares of the width, from the left; NaN counts as 0
   * @param paints a colour each
   */
  public static void paint(
      CellGrid grid,
      int x,
      int y,
      int width,
      double[] parts,
      int[] paints,
      int background,
      PaintOptions options) {
    int[] end = new int[parts.length];
    double sum = 0;
    for (int i = 0; i < parts.length; i++) {
      sum += Double.isNaN(parts[i]) ? 0 : Math.max(0, parts[i]);
      end[i] = (int) Math.round(Math.min(1, sum) * width * 8);
      if (options.ascii() || options.plain()) {
        end[i] = (end[i] + 4) / 8 * 8;
      }
    }
    int part = 0;
    for (int c = 0; c < width; c++) {
      while (part < end.length && end[part] <= c * 8) {
        part++;
      }
      if (part == end.length) {
        grid.fill(x + c, y, 1, background);
        continue;
      }
      if (options.plain()) {
        grid.put(x + c, y, PLAIN[Math.min(part, PLAIN.length - 1)], Paint.TEXT, background, 0);
        continue;
      }
      int edge = end[part];
      if (edge >= c * 8 + 8) {
        // With colours but ASCII only, the background draws the bar.
        grid.put(x + c, y, ' ', Paint.TEXT, paints[part], 0);
      } else {
        int after = part;
        while (after < end.length && end[after] < c * 8 + 8) {
          after++;
        }
        grid.put(
            x + c,
            y,
            LEFT_BLOCKS[edge - c * 8],
            paints[part],
            after == end.length ? background : paints[after],
            0);
      }
    }
  }
}
