package flametop.profile.live;

import java.util.HashMap;
import java.util.Map;

/** The nodes of a trie that entries left, and where these entries are now. */
final class LeftNodes {
  private static final int NONE = -1;

  private final Trie trie;

  /** By node that entries left: where the heaviest of these entries is now. */
  private final Map<Integer, long[]> moved = new HashMap<>();

  LeftNodes(Trie trie) {
    this.trie = trie;
  }

  /** An entry of this weight has another leaf from now on. */
  void left(int from, int to, long weight) {
    int depth = trie.depth(from);
    int toDepth = trie.depth(to);
    int there = to;
    for (; toDepth > depth; toDepth--) {
      there = trie.parent(there);
    }
    for (int node = from; node != there && node != NONE; node = trie.parent(node), depth--) {
      for (; toDepth > depth; toDepth--) {
        there = trie.parent(there);
      }
      long[] heaviest = moved.get(node);
      if (heaviest == null || weight >= heaviest[1]) {
        moved.put(node, new long[] {there, weight});
      }
    }
  }

  /** The node itself, or where its heaviest stack went if all stacks left the node. */
  int follow(int node) {
    int at = node;
    for (int steps = 0; steps < 64 && trie.isEmptied(at); steps++) {
      long[] to = moved.get(at);
      if (to == null) {
        return at;
      }
      at = (int) to[0];
    }
    return at;
  }

  /** By node that entries left: the {@linkplain #follow node} where its stacks are. */
  Map<Integer, Integer> all() {
    Map<Integer, Integer> all = new HashMap<>();
    moved.keySet().forEach(node -> all.put(node, follow(node)));
    return all;
  }
}
