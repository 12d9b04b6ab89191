package flametop.array;

import java.util.Arrays;

/**
 * Finds the row of a column by its value, by open addressing. No two rows have one value.
 *
 * <p>The table holds rows, not values, and is at most half full: a row costs 8 to 16 bytes beside
 * the column.
 */
public final class LongIndex {
  /** No row: the row before the first, for which a free place stands. */
  public static final int NONE = -1;

  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private final LongColumn keys;

  /** One more than the row; 0 is free. */
  private int[] table = new int[1 << 7];

  /** Indexes the rows of a column. From now on only the index adds rows. */
  public LongIndex(LongColumn keys) {
    this.keys = keys;
    fill();
  }

  /** An index over a column of its own. */
  public LongIndex() {
    this(new LongColumn());
  }

  /** Rows of the column. */
  public int size() {
    return keys.size;
  }

  /** The value of a row. */
  public long key(int row) {
    return keys.items[row];
  }

  /** The row with a value; {@link #NONE} if no row has the value. */
  public int find(long key) {
    int guess = guess(key);
    return guess >= 0 ? guess : table[place(key)] - 1;
  }

  /** The row with a value; a new row behind the last if no row had the value. */
  public int row(long key) {
    int guess = guess(key);
    if (guess >= 0) {
      return guess;
    }
    int place = place(key);
    int known = table[place];
    if (known != 0) {
      return known - 1;
    }
    keys.add(key);
    table[place] = keys.size;
    if (2 * keys.size > table.length) {
      fill();
    }
    return keys.size - 1;
  }

  /** The row with a value where values are numbers in a row, as 1, 2, 3 …; else {@link #NONE}. */
  private int guess(long key) {
    long row = key - keys.items[0];
    return row >= 0 && row < keys.size && keys.items[(int) row] == key ? (int) row : NONE;
  }

  /** The place in the table of the row with a value; the free place for it if no row has it. */
  private int place(long key) {
    int[] rows = table;
    long[] values = keys.items;
    int mask = rows.length - 1;
    int slot = slot(key, mask);
    for (int at; (at = rows[slot]) != 0 && values[at - 1] != key; ) {
      slot = slot + 1 & mask;
    }
    return slot;
  }

  /** Removes all rows. */
  public void clear() {
    keys.size = 0;
    Arrays.fill(table, 0);
  }

  /** Looks at all rows anew, whose values may have changed. */
  public void fill() {
    int length = table.length;
    while (length < 2 * keys.size) {
      length *= 2;
    }
    table = new int[length];
    int mask = length - 1;
    for (int row = 0; row < keys.size; row++) {
      int slot = slot(keys.items[row], mask);
      while (table[slot] != 0) {
        slot = slot + 1 & mask;
      }
      table[slot] = row + 1;
    }
  }

  private static int slot(long key, int mask) {
    long hash = key * SPREAD;
    // The low bits of a product know nothing of the high bits of the key.
    return (int) ((hash ^ hash >>> 20) >>> 32) & mask;
  }
}
