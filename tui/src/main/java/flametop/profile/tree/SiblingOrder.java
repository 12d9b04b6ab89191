package flametop.profile.tree;

import flametop.array.IntColumn;
import java.util.Comparator;

/**
 * The order of siblings: by name or by size. By name the children of the node that was asked for
 * last are kept, since there may be very many. By size two siblings keep their places until one has
 * grown or shrunk by a tenth: a graph that is painted four times a second stays readable.
 */
public final class SiblingOrder {
  private static final int NONE = -1;

  /** A share of all is kept in this unit. */
  private static final double UNIT = 1e-9;

  private int node = NONE;
  private final IntColumn children = new IntColumn();

  /** By node: the share of all by which the node has its place among its siblings. */
  private final IntColumn share = new IntColumn();

  /** Tells how large a node is now. */
  void measure(int measured, double ofAll) {
    int now = (int) (Math.max(0, Math.min(1, ofAll)) / UNIT);
    int before = share.get(measured);
    if (Math.abs(now - before) > before / 10) {
      share.set(measured, now);
    }
  }

  /** Compares two nodes that were measured: the larger one is first; 0 if none is. */
  int compareSizes(int a, int b) {
    return Integer.compare(share.get(b), share.get(a));
  }

  /** The children of a node by size; all of them must have been measured. */
  IntColumn bySize(IntColumn named) {
    IntColumn sorted = named.copy();
    sorted.sort(0, this::compareSizes);
    return sorted;
  }

  /**
   * The children of a node by name, also those without weight. What it returns is not to be
   * changed.
   */
  IntColumn of(CallTree tree, int of, Comparator<Integer> order) {
    int count = 0;
    for (int child = tree.firstChild(of); child != NONE; child = tree.sibling(child)) {
      count++;
    }
    // A tree only grows, and a node keeps its function.
    if (node != of || children.size != count) {
      children.clear();
      for (int child = tree.firstChild(of); child != NONE; child = tree.sibling(child)) {
        children.add(child);
      }
      children.sort(0, order);
      node = of;
    }
    return children;
  }
}
