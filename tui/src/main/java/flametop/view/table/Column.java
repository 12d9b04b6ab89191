package flametop.view.table;

import flametop.view.layout.Scene;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;
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
 * @param meanings lines of the help; none if the title says enough
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
    List<Meaning> meanings) {
  /** A word of a column and its meaning, in scenes that need the word. */
  record Meaning(Predicate<Scene> needs, String word, String meaning) {}

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

  /** One of two widths: {@code most} cells in rooms that are wide, and {@code narrow} elsewhere. */
  record OneOfTwo(Predicate<Room> isWide, int most, int narrow) implements Width {
    @Override
    public int in(Room room) {
      return isWide.test(room) ? most : narrow;
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
    return new Column<>(title, right, width, cell, value, name, also, meanings);
  }

  /** The same column, which sorts by the order of another column. */
  Column<R, O> like(O value) {
    return new Column<>(title, right, width, cell, value, null, also, meanings);
  }

  /** The same column, whose head stands out at one more order. */
  Column<R, O> alsoAt(O value) {
    return new Column<>(title, right, width, cell, order, label, value, meanings);
  }

  /** The same column, explained in the help. */
  Column<R, O> meaning(String word, String meaning) {
    return meaning(scene -> true, word, meaning);
  }

  /** The same column, explained in the help of scenes that need the word. */
  Column<R, O> meaning(Predicate<Scene> needs, String word, String meaning) {
    List<Meaning> all = new ArrayList<>(meanings);
    all.add(new Meaning(needs, word, meaning));
    return new Column<>(title, right, width, cell, order, label, also, List.copyOf(all));
  }

  /** Whether rows are sorted by this column. */
  boolean sorts(O by) {
    return label != null && by.equals(order) || by.equals(also);
  }
}
