package flametop.profile.tree;

import java.util.Arrays;

/** Map from long to int by open addressing; keys stay for its life, values are not negative. */
public final class LongTable {
  public static final int NONE = -1;

  private long[] keys = new long[1024];
  private int[] values = new int[1024];
  private int size;

  public LongTable() {
    Arrays.fill(values, NONE);
  }

  public int get(long key) {
    long[] keys = this.keys;
    int[] values = this.values;
    int mask = keys.length - 1;
    for (int at = hash(key) & mask; values[at] != NONE; at = at + 1 & mask) {
      if (keys[at] == key) {
        return values[at];
      }
    }
    return NONE;
  }

  /** Adds a key that is not there. */
  public void put(long key, int value) {
    if (3 * ++size > 2 * keys.length) {
      grow();
    }
    insert(key, value);
  }

  private void insert(long key, int value) {
    int mask = keys.length - 1;
    int at = hash(key) & mask;
    while (values[at] != NONE) {
      at = at + 1 & mask;
    }
    keys[at] = key;
    values[at] = value;
  }

  private void grow() {
    long[] oldKeys = keys;
    int[] oldValues = values;
    keys = new long[2 * oldKeys.length];
    values = new int[2 * oldKeys.length];
    Arrays.fill(values, NONE);
    for (int i = 0; i < oldKeys.length; i++) {
      if (oldValues[i] != NONE) {
        insert(oldKeys[i], oldValues[i]);
      }
    }
  }

  private static int hash(long key) {
    return (int) ((key * 0x9E3779B97F4A7C15L) >>> 32);
  }
}
