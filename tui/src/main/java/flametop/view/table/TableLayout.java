package flametop.view.table;

import flametop.view.base.Zone;
import flametop.view.layout.Heading;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the heads and the rows of a table stand.
 *
 * @param heading the lines above the heads
 * @param heads the columns that have room, where their titles stand
 * @param rows all rows that have come
 * @param top row of the screen for the first row in sight
 * @param room rows that there is room for
 * @param first index of the first row in sight
 * @param marked index of the marked row; -1 in a table that marks none
 */
public record TableLayout<R, O>(
    Heading heading,
    List<Zone<Column<R, O>>> heads,
    List<R> rows,
    int top,
    int room,
    int first,
    int marked) {
  /** Row of the screen for the heads. */
  public int head() {
    return heading.end;
  }

  /** One more than the index of the last row in sight. */
  public int end() {
    return Math.min(rows.size(), first + room);
  }

  /** Row of the screen for a row in sight. */
  public int rowOf(int index) {
    return top + index - first;
  }

  /**
   * The column whose head a click hits, with the cells between it and the column before; or null.
   */
  public @Nullable Column<R, O> headAt(int x) {
    for (Zone<Column<R, O>> head : heads) {
      if (x <= head.x() + head.width()) {
        return head.what();
      }
    }
    return null;
  }

  /** Indexes of the rows in sight, over so many cells. */
  public List<Zone<Integer>> zones(int width) {
    List<Zone<Integer>> zones = new ArrayList<>();
    for (int i = first; i < end(); i++) {
      zones.add(Zone.line(0, rowOf(i), width, i));
    }
    return zones;
  }
}
