package flametop.array;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Finds rows by their bytes, by open addressing. No two rows have the same bytes, and the bytes of
 * each row are kept once, in one array.
 */
public final class BytesIndex {
  /** No row. */
  public static final int NONE = -1;

  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private final int mostBytes;
  private final int mostRows;
  private byte[] bytes = new byte[1 << 16];

  /** Where the bytes of each row begin, and where those of the last one end. */
  private IntColumn start = new IntColumn();

  private IntColumn hashes = new IntColumn();
  private int size;

  /** One more than the row; 0 is free. */
  private int[] table = new int[1 << 12];

  /**
   * @param mostBytes of all rows together
   * @param mostRows how many rows there may be
   */
  public BytesIndex(int mostBytes, int mostRows) {
    this.mostBytes = mostBytes;
    this.mostRows = mostRows;
  }

  private BytesIndex(BytesIndex of) {
    mostBytes = of.mostBytes;
    mostRows = of.size;
    bytes = of.bytes;
    start = of.start.held();
    hashes = of.hashes.held();
    size = of.size;
    table = new int[0];
  }

  /** The rows that there are now, for another thread, which finds none by its bytes. */
  public BytesIndex held() {
    return new BytesIndex(this);
  }

  public int size() {
    return size;
  }

  /** The bytes of all rows. */
  public byte[] bytes() {
    return bytes;
  }

  /** Where the bytes of a row begin. */
  public int start(int row) {
    return start.items[row];
  }

  /** Where the bytes of a row end. */
  public int end(int row) {
    return start.items[row + 1];
  }

  /** The row with the bytes of {@code text} in a range; {@link #NONE} if none has them. */
  public int find(byte[] text, int from, int to) {
    return table[place(text, from, to, hash(text, from, to))] - 1;
  }

  /**
   * The row with the bytes of {@code text} in a range. If no row has these bytes, a new one is
   * added behind the last; {@link #NONE} if there is no room for it.
   */
  public int row(byte[] text, int from, int to) {
    return row(text, from, to, mostBytes, mostRows);
  }

  /**
   * The row with the bytes of {@code text}, added where the bounds of the index have no room, too.
   */
  public int rowAnyway(byte[] text) {
    return row(text, 0, text.length, Integer.MAX_VALUE - 8, Integer.MAX_VALUE - 8);
  }

  private int row(byte[] text, int from, int to, int most, int rows) {
    int hash = hash(text, from, to);
    int place = place(text, from, to, hash);
    if (table[place] != 0) {
      return table[place] - 1;
    }
    return size >= rows || to - from > most - start.items[size]
        ? NONE
        : add(text, from, to, hash, place);
  }

  /** Where a row stands in the table, or where it is to stand. */
  private int place(byte[] text, int from, int to, int hash) {
    int mask = table.length - 1;
    int[] starts = start.items;
    int place = hash & mask;
    for (int at; (at = table[place] - 1) >= 0; place = place + 1 & mask) {
      if (hashes.items[at] == hash
          && Arrays.equals(bytes, starts[at], starts[at + 1], text, from, to)) {
        break;
      }
    }
    return place;
  }

  private static int hash(byte[] text, int from, int to) {
    long hash = (long) to - from;
    int at = from;
    for (; at + Long.BYTES <= to; at += Long.BYTES) {
      hash = (Long.rotateLeft(hash, 29) ^ (long) WORDS.get(text, at)) * SPREAD;
    }
    long rest = 0;
    for (; at < to; at++) {
      rest = rest << 8 | text[at] & 0xFF;
    }
    hash = (Long.rotateLeft(hash, 29) ^ rest) * SPREAD;
    return (int) (hash ^ hash >>> 32);
  }

  private int add(byte[] text, int from, int to, int hash, int place) {
    int end = start.get(size) + to - from;
    if (end > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(end, (int) Math.min(Integer.MAX_VALUE - 8, 2L * end)));
    }
    System.arraycopy(text, from, bytes, start.get(size), to - from);
    start.set(size + 1, end);
    hashes.set(size, hash);
    table[place] = ++size;
    if (size > table.length / 4) {
      rehash();
    }
    return size - 1;
  }

  private void rehash() {
    int[] wider = new int[4 * table.length];
    int mask = wider.length - 1;
    for (int row = 0; row < size; row++) {
      int place = hashes.items[row] & mask;
      while (wider[place] != 0) {
        place = place + 1 & mask;
      }
      wider[place] = row + 1;
    }
    table = wider;
  }
}
