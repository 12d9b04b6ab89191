package flametop.view.state;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Where the user is in a table. Immutable.
 *
 * @param order the order of the rows; null: the order that the table begins with
 * @param kind of the rows: 0 is the kind that the table begins with, mostly processes; then
 *     threads, or modules, runtimes
 * @param ended whether rows of what has ended are there too
 * @param marked the key of the marked row; null: {@code place} alone says which row is marked
 * @param place the index that the marked row had when it was marked; the first row in sight of a
 *     table that marks no row
 * @param filter a search that narrows the rows; null for none
 * @param <K> identifies a row from one report to the next
 * @param <O> orders of rows
 */
public record TablePlace<K, O>(
    @Nullable O order,
    int kind,
    boolean ended,
    @Nullable K marked,
    int place,
    @Nullable Search filter) {
  /** The place in a table that nobody touched yet. */
  public static <K, O> TablePlace<K, O> first(@Nullable O order) {
    return new TablePlace<>(order, 0, false, null, 0, null);
  }

  /** The order of the rows; {@code first} until another one is chosen. */
  public O orderOr(O first) {
    return order == null ? first : order;
  }

  public TablePlace<K, O> by(O value) {
    return new TablePlace<>(value, kind, ended, marked, place, filter);
  }

  /** Whether rows are of the second kind. */
  public boolean second() {
    return kind == 1;
  }

  /**
   * The same place with rows of the next kind.
   *
   * @param kinds how many there are
   */
  public TablePlace<K, O> withNextKind(int kinds) {
    return new TablePlace<>(order, (kind + 1) % kinds, ended, null, 0, filter);
  }

  /** The same place with the rows of what has ended, or without these. */
  public TablePlace<K, O> withOtherEnded() {
    return new TablePlace<>(order, kind, !ended, null, 0, filter);
  }

  /**
   * The same with a mark on another row.
   *
   * @param key null if the row has not come yet
   */
  public TablePlace<K, O> withMarked(@Nullable K key, int at) {
    return new TablePlace<>(order, kind, ended, key, at, filter);
  }

  TablePlace<K, O> withFilter(@Nullable Search value) {
    return new TablePlace<>(order, kind, ended, marked, place, value);
  }

  /** Index of the marked row; a row that is gone leaves the mark where the row was. */
  public <R> int index(List<R> rows, Function<R, K> key) {
    for (int i = 0; marked != null && i < rows.size(); i++) {
      if (marked.equals(key.apply(rows.get(i)))) {
        return i;
      }
    }
    return Math.max(0, Math.min(place, rows.size() - 1));
  }
}
