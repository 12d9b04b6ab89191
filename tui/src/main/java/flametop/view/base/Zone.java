package flametop.view.base;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A rectangle of the screen and the thing that stands there. Layouts record zones, painters fill
 * them, the mouse finds them.
 *
 * @param x first column
 * @param y first row
 * @param width in cells
 * @param height in rows
 * @param what the thing that stands there
 */
public record Zone<T>(int x, int y, int width, int height, T what) {
  /** A zone of one row. */
  public static <T> Zone<T> line(int x, int y, int width, T what) {
    return new Zone<>(x, y, width, 1, what);
  }

  /** Whether a cell is in the zone. */
  public boolean has(int column, int row) {
    return column >= x && column < x + width && row >= y && row < y + height;
  }

  /**
   * The content of the zone at a cell, of zones that do not overlap; null where there is no zone.
   */
  public static <T> @Nullable T at(List<Zone<T>> zones, int column, int row) {
    for (Zone<T> zone : zones) {
      if (zone.has(column, row)) {
        return zone.what;
      }
    }
    return null;
  }
}
