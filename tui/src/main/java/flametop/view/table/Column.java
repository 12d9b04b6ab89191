package flametop.view.table;

import flametop.view.layout.Scene;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A column of a table. One line of its table makes it; nothing else knows it.
 *
 * @param title in the row of heads
 * @param right whether title and text end at the right edge, as figures do
 * @param width how many cells it has
 * @param cell writes what it says of a row
 * @param order the order that a click on its head chooses; null for none
 * @param label the name of that order; null if another column names it
 * @param also an order that no column has as its own, at which this head stands out as well; null
 *     for none
 * @param legend lines of the help, each a word and its meaning; empty if the title says enough
 * @param <R> rows
 * @param <O> orders of rows
 */
public record Column<R, O>(
    Function<Scene, String> title,
    boolean right,
    Width width,
    Cell<R> cell,
    @Nullable O order,
    @Nullable String label,
    @Nullable O also,
    Function<Scene, List<String[]>> legend) {
  /** How many cells a column has. */
  @FunctionalInterface
  public interface Width {
    /** Cells in the room that there is; 0 or less leaves the column out. */
    int in(Room room);

    /** Cells where the screen is wide; 0 for a column that takes what the others leave. */
    default int most() {
      return 0;
    }
  }

  /**
   * The room for a column.
   *
   * @param left cells from its left edge to the last but one of the screen
   * @param before cells of the column before it
   */
  public record Room(Scene scene, int left, int before) {
    int columns() {
      return scene.columns;
    }
  }

  /** Writes what a column says of a row. */
  @FunctionalInterface
  public interface Cell<R> {
    void write(R row, Spot at);
  }

  /**
   * The same column, which sorts by an order.
   *
   * @param name of the order
   */
  Column<R, O> by(O value, String name) {
    return new Column<>(title, right, width, cell, value, name, also, legend);
  }

  /** The same column, which sorts by the order of another column. */
  Column<R, O> like(O value) {
    return new Column<>(title, right, width, cell, value, null, also, legend);
  }

  /** The same column, whose head stands out at one more order. */
  Column<R, O> alsoAt(O value) {
    return new Column<>(title, right, width, cell, order, label, value, legend);
  }

  /** The same column, explained in the help. */
  Column<R, O> meaning(String word, String meaning) {
    return meaning(scene -> List.<String[]>of(new String[] {word, meaning}));
  }

  Column<R, O> meaning(Function<Scene, List<String[]>> lines) {
    return new Column<>(title, right, width, cell, order, label, also, lines);
  }

  /** Whether rows are sorted by this column. */
  boolean sorts(@Nullable O by) {
    return by != null && (label != null && by.equals(order) || by.equals(also));
  }
}
