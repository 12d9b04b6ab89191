package flametop.profile;

import java.util.Arrays;

/** The time below one node of a trie by process, kept up to date as the trie goes on. */
final class Watch {
  private final Trie trie;
  private final Owners owners;
  private int node = -1;

  /** Which nodes are it or below it, of the first {@link #seen}; a bit each. */
  private long[] within = new long[16];

  private int seen;
  private final Sums sums = new Sums(false);
  private int processes;

  Watch(Trie trie, Owners owners) {
    this.trie = trie;
    this.owners = owners;
  }

  /** -1 before any is watched. */
  int node() {
    return node;
  }

  /** Watches this node from now on. */
  void watch(int wanted) {
    if (node == wanted) {
      return;
    }
    node = wanted;
    Arrays.fill(within, 0);
    grow(node);
    within[node >>> 6] |= 1L << node;
    seen = node + 1;
    for (int process = 0; process < processes; process++) {
      sums.clear(process);
    }
    for (int entry = 0; entry < trie.entries(); entry++) {
      if (trie.leaf(entry) >= 0 && has(trie.leaf(entry))) {
        moved(entry, 1);
      }
    }
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

  private int process(int entry) {
    int process = owners.process(trie.owner(entry));
    if (process >= processes) {
      processes = process + 1;
      sums.things(processes);
    }
    return process;
  }

  void head(int entry, int state, long base, int open) {
    if (holds(entry) && trie.owner(entry) != Owners.OLDER) {
      sums.addHead(process(entry), state, base, open, 0);
    }
  }

  void tail(int entry, int state, long base, int open) {
    if (holds(entry) && trie.owner(entry) != Owners.OLDER) {
      sums.addTail(process(entry), state, base, open, 0);
    }
  }

  /** The entry is about to leave the path that it has. */
  void leaves(int entry) {
    if (holds(entry)) {
      moved(entry, -1);
    }
  }

  /** The entry came to the path that it has. */
  void came(int entry) {
    if (holds(entry)) {
      moved(entry, 1);
    }
  }

  private void moved(int entry, int sign) {
    if (trie.owner(entry) != Owners.OLDER) {
      trie.addTo(sums, process(entry), entry, sign);
    }
  }

  void processFreed(int process) {
    if (process < processes) {
      sums.clear(process);
    }
  }

  /** All processes with time are below. */
  int processes() {
    return processes;
  }

  long weight(int process, int states, Window window) {
    return sums.weight(process, states, window);
  }
}
