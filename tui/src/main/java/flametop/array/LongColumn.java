package flametop.array;

import java.util.Arrays;

/** A growing column of longs by row. Rows that were never set hold 0. */
public final class LongColumn {
  /** The rows, and zeros behind them. Growth makes another array. */
  public long[] items;

  /** All set rows are below. */
  public int size;

  public LongColumn() {
    this(new long[IntColumn.FIRST_LENGTH], 0);
  }

  private LongColumn(long[] items, int size) {
    this.items = items;
    this.size = size;
  }

  /** The value of a row; 0 if the row was never set. */
  public long get(int row) {
    return row < items.length ? items[row] : 0;
  }

  public void set(int row, long value) {
    if (row >= items.length) {
      grow(row);
    }
    items[row] = value;
    size = Math.max(size, row + 1);
  }

  /** Adds a row behind the last. */
  public void add(long value) {
    if (size == items.length) {
      grow(size);
    }
    items[size++] = value;
  }

  /** Removes all rows. Their values stay in {@link #items}. */
  public void clear() {
    size = 0;
  }

  /** Gives the column so many rows, all 0. */
  public void zero(int rows) {
    if (rows > items.length) {
      items = new long[IntColumn.longer(items.length, rows - 1)];
    } else {
      Arrays.fill(items, 0, Math.max(rows, size), 0);
    }
    size = rows;
  }

  /** Gives back the room behind the last row. */
  public void trim() {
    items = toArray();
  }

  public long[] toArray() {
    return Arrays.copyOf(items, size);
  }

  /** The same rows, in an array of its own. */
  public LongColumn copy() {
    return new LongColumn(items.clone(), size);
  }

  /** The rows as they are now, for another thread: rows that are set are never set again. */
  public LongColumn held() {
    return new LongColumn(items, size);
  }

  /** Gives the column so many rows: the first ones as they are, further ones 0. */
  public void resize(int rows) {
    items = Arrays.copyOf(items, rows);
    size = rows;
  }

  private void grow(int row) {
    items = Arrays.copyOf(items, IntColumn.longer(items.length, row));
  }
}
