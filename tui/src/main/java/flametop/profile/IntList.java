package flametop.profile;

import java.util.Arrays;

/** A growing list of ints. */
final class IntList {
  int[] items = new int[64];
  int size;

  void add(int item) {
    if (size == items.length) {
      items = Arrays.copyOf(items, 2 * size);
    }
    items[size++] = item;
  }

  void clear() {
    size = 0;
  }

  int[] toArray() {
    return Arrays.copyOf(items, size);
  }
}
