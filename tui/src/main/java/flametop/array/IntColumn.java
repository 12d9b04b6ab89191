package flametop.array;

import java.util.Arrays;
import java.util.Comparator;

/**
 * A growing column of ints by row, also used as a list or a stack. Rows that were never set hold
 * the empty value of the column.
 */
public final class IntColumn {
  static final int FIRST_LENGTH = 64;
  private static final int LARGE = 1 << 14;

  private final int empty;

  /** The rows, and empty values behind them. Growth makes another array. */
  public int[] items;

  /** All set rows are below. */
  public int size;

  /** A column whose empty value is 0. */
  public IntColumn() {
    this(0);
  }

  public IntColumn(int empty) {
    this(empty, new int[FIRST_LENGTH], 0);
    if (empty != 0) {
      Arrays.fill(items, empty);
    }
  }

  private IntColumn(int empty, int[] items, int size) {
    this.empty = empty;
    this.items = items;
    this.size = size;
  }

  /** The value of a row; the empty value if the row was never set. */
  public int get(int row) {
    return row < items.length ? items[row] : empty;
  }

  public void set(int row, int value) {
    if (row >= items.length) {
      grow(row);
    }
    items[row] = value;
    size = Math.max(size, row + 1);
  }

  /** Adds a row behind the last. */
  public void add(int value) {
    if (size == items.length) {
      grow(size);
    }
    items[size++] = value;
  }

  /** Removes the last row. */
  public int pop() {
    return items[--size];
  }

  /** Adds the rows of another column from a row on. */
  public void addAll(IntColumn other, int from) {
    int count = other.size - from;
    if (size + count > items.length) {
      grow(size + count);
    }
    System.arraycopy(other.items, from, items, size, count);
    size += count;
  }

  /** Removes the first rows. */
  public void removeFirst(int count) {
    System.arraycopy(items, count, items, 0, size - count);
    size -= count;
  }

  /** Puts the rows from one on in an order; equal ones stay as they are. */
  public void sort(int from, Comparator<Integer> order) {
    if (size - from < 2) {
      return;
    }
    Integer[] sorted = new Integer[size - from];
    for (int i = 0; i < sorted.length; i++) {
      sorted[i] = items[from + i];
    }
    Arrays.sort(sorted, order);
    for (int i = 0; i < sorted.length; i++) {
      items[from + i] = sorted[i];
    }
  }

  /** Removes all rows. Their values stay in {@link #items}. */
  public void clear() {
    size = 0;
  }

  /** Has all rows hold the empty value. */
  public void empty() {
    Arrays.fill(items, empty);
    size = 0;
  }

  /** Gives back the room behind the last row. */
  public void trim() {
    items = toArray();
  }

  public int[] toArray() {
    return Arrays.copyOf(items, size);
  }

  /** The same rows, in an array of its own. */
  public IntColumn copy() {
    return new IntColumn(empty, items.clone(), size);
  }

  /** The rows as they are now, for another thread: rows that are set are never set again. */
  public IntColumn held() {
    return new IntColumn(empty, items, size);
  }

  /**
   * The length of an array in place of one that has no room for a row. Small arrays double; large
   * ones become a quarter longer, since on average half of a doubled array would be empty.
   */
  static int longer(int length, int row) {
    return Math.max(row + 1, length < LARGE ? 2 * length : length + (length >> 2));
  }

  private void grow(int row) {
    int length = items.length;
    items = Arrays.copyOf(items, longer(length, row));
    if (empty != 0) {
      Arrays.fill(items, length, items.length, empty);
    }
  }
}
