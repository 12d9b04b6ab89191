package flametop.profile.live;

import java.util.Arrays;

/** Which entries of a trie are below one node, kept up to date as the trie goes on. */
final class SelectedNodeSums {
  private final Trie trie;
  private int node = -1;

  /** A bit for each of the first {@link #seen} nodes: whether it is the watched one or below it. */
  private long[] within = new long[16];

  private int seen;

  SelectedNodeSums(Trie trie) {
    this.trie = trie;
  }

  /** The watched node; -1 before the first. */
  int node() {
    return node;
  }

  /** Watches another node from now on. */
  void watch(int wanted) {
    if (node == wanted) {
      return;
    }
    node = wanted;
    Arrays.fill(within, 0);
    grow(node);
    within[node >>> 6] |= 1L << node;
    seen = node + 1;
  }

  /** Whether a node is the watched one or below it. */
  private boolean has(int leaf) {
    if (leaf >= seen) {
      grow(leaf);
      trie.spread(within, seen, leaf);
      seen = leaf + 1;
    }
    return (within[leaf >>> 6] >>> leaf & 1) != 0;
  }

  private void grow(int to) {
    if (to >>> 6 >= within.length) {
      within = Arrays.copyOf(within, Math.max((to >>> 6) + 1, 2 * within.length));
    }
  }

  /** Whether the path of an entry goes through the watched node. */
  boolean holds(int entry) {
    return node >= 0 && trie.leaf(entry) >= 0 && has(trie.leaf(entry));
  }
}
