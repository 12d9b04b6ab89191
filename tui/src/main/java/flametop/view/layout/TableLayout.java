package flametop.view.layout;

import flametop.view.base.Zone;
import flametop.view.state.Rows;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the heads and the rows of a table stand.
 *
 * @param heading the lines above the heads, which are in the row below it
 * @param columns from the left
 * @param top row of the screen for the first row in sight
 * @param room rows that there is room for
 * @param marked index of the marked row
 * @param count rows of the table
 * @param <C> what names a column
 */
public record TableLayout<C>(
    Heading heading, Columns<C> columns, int top, int room, int marked, int count) {
  /**
   * A table from a row of the screen down to another.
   *
   * @param end the row below it
   */
  static <C> TableLayout<C> around(
      Heading heading, Columns<C> columns, int top, int end, int marked, int count) {
    return new TableLayout<>(heading, columns, top, Math.max(1, end - top), marked, count);
  }

  /** Row of the screen for the heads. */
  public int head() {
    return heading.end;
  }

  /** Index of the first row in sight. */
  public int first() {
    return Rows.first(marked, count, room);
  }

  /** One more than the index of the last row in sight. */
  public int end() {
    return Math.min(count, first() + room);
  }

  /** Row of the screen for a row in sight. */
  public int rowOf(int index) {
    return top + index - first();
  }

  /** The heads. */
  public List<Zone<C>> heads() {
    return columns.zones(head());
  }

  /** Indexes of the rows in sight, over so many cells. */
  public List<Zone<Integer>> rows(int width) {
    List<Zone<Integer>> rows = new ArrayList<>();
    for (int i = first(); i < end(); i++) {
      rows.add(Zone.line(0, rowOf(i), width, i));
    }
    return rows;
  }
}
