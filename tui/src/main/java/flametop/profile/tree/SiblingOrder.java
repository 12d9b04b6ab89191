package flametop.profile.tree;

import java.util.Arrays;
import java.util.Comparator;

/**
 * The children of a node in the order of their names; kept for the node that was asked for last,
 * since there may be very many.
 */
public final class SiblingOrder {
  private static final int NONE = -1;

  private int node = NONE;
  private int[] children = new int[0];

  /** All of them, also those without weight. What it returns is not to be changed. */
  int[] of(CallTree tree, int of, Comparator<Integer> order) {
    int count = 0;
    for (int child = tree.firstChild(of); child != NONE; child = tree.sibling(child)) {
      count++;
    }
    // A tree only grows, and a node keeps its function.
    if (node != of || children.length != count) {
      Integer[] sorted = new Integer[count];
      int at = 0;
      for (int child = tree.firstChild(of); child != NONE; child = tree.sibling(child)) {
        sorted[at++] = child;
      }
      Arrays.sort(sorted, order);
      children = new int[count];
      for (int i = 0; i < count; i++) {
        children[i] = sorted[i];
      }
      node = of;
    }
    return children;
  }
}
