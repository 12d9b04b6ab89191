package flametop.profile.tree;

import java.util.Arrays;

/** A growing list of ints. */
public final class IntList {
  public int[] items = new int[64];
  public int size;

  public void add(int item) {
    if (size == items.length) {
      items = Arrays.copyOf(items, 2 * size);
    }
    items[size++] = item;
  }

  public void clear() {
    size = 0;
  }

  public int[] toArray() {
    return Arrays.copyOf(items, size);
  }
}
