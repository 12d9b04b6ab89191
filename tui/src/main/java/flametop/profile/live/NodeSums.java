package flametop.profile.live;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import java.util.ArrayList;
import java.util.List;

/** Sums of the nodes of a trie, for each set of states that is asked for. */
final class NodeSums {
  private final Trie trie;
  private final IntColumn asked = new IntColumn();
  private final List<LongColumn> sums = new ArrayList<>();
  private int made;
  private long version = -1;

  NodeSums(Trie trie) {
    this.trie = trie;
  }

  /**
   * By node: ns in some states.
   *
   * @param nanos of entries, by slot
   * @param now another number whenever {@code nanos} or a path may have changed
   */
  long[] of(int states, long[] nanos, long now) {
    if (version != now) {
      version = now;
      made = 0;
    }
    for (int i = 0; i < made; i++) {
      if (asked.items[i] == states) {
        return sums.get(i).items;
      }
    }
    if (made == sums.size()) {
      sums.add(new LongColumn());
    }
    asked.set(made, states);
    LongColumn sum = sums.get(made++);
    sum.zero(trie.nodes());
    trie.addUp(states, nanos, sum.items);
    return sum.items;
  }
}
