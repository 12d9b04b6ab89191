package flametop.profile.format;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Goes through the events of a thread in the order of their times, and adds what each lasts by
 * itself to a tree.
 *
 * <p>An end with a name closes the nearest open event of that name, and what is within. An end
 * without a name closes the innermost. Of the events of one moment, ends of what began earlier come
 * first; the ends may stand in any order, and an end may stand before its own begin.
 */
final class TraceReplay {
  /** The length of an event that begins and ends later. */
  static final long BEGINS = Long.MAX_VALUE;

  /** The length of an event that ends what began earlier. */
  static final long ENDS = -1;

  private final FrameTree tree;

  /** The number of the empty name. */
  private final int none;

  // The events that are open, innermost last: node, name, and when it ends.
  private final IntColumn nodes = new IntColumn();
  private final IntColumn names = new IntColumn();
  private final LongColumn ends = new LongColumn();

  /** By name: how many events are open that end later by a pair's other half. */
  private final IntColumn open = new IntColumn();

  private int begun;

  // Of the moment, by name: begins that wait for their end, ends that came before their begin,
  // events that ended with an outer one.
  private final Map<Integer, Integer> fresh = new HashMap<>();
  private final Map<Integer, Integer> early = new HashMap<>();
  private final Map<Integer, Integer> cut = new HashMap<>();

  private boolean counts;
  private long unpaired;
  private long unheld;

  TraceReplay(FrameTree tree, int none) {
    this.tree = tree;
    this.none = none;
  }

  /** Whether an event lasted any time. */
  boolean counts() {
    return counts;
  }

  /** How many events began or ended without their other half. */
  long unpaired() {
    return unpaired;
  }

  /** How many values there was no room for. */
  long unheld() {
    return unheld;
  }

  /**
   * Adds the events of a thread.
   *
   * @param moments when each begins
   * @param lengths how long each lasts; {@link #BEGINS} and {@link #ENDS} of the halves of a pair
   * @param named the number of each one's name
   * @param above the node of the thread
   */
  void add(LongColumn moments, LongColumn lengths, IntColumn named, int above) {
    int count = moments.size;
    int[] order = TraceOrder.of(moments.items, lengths.items, named.items, count, none);
    BitSet done = new BitSet();
    long last = count > 0 ? moments.items[order[0]] : 0;
    for (int i = 0; i < count; i++) {
      long now = moments.items[order[i]];
      last = endUntil(now, last);
      if (nodes.size > 0) {
        put(nodes.items[nodes.size - 1], now - last);
      }
      if (i == 0 || now > last) {
        fresh.clear();
        early.clear();
        cut.clear();
        int behind = i + 1;
        while (behind < count && moments.items[order[behind]] == now) {
          behind++;
        }
        endOlder(order, i, behind, lengths.items, named.items, done);
      }
      last = now;
      int name = named.items[order[i]];
      long length = lengths.items[order[i]];
      if (length != ENDS) {
        begin(name, length, now, above);
      } else if (!done.get(i)) {
        end(name);
      }
    }
    long unused = endUntil(Long.MAX_VALUE, last);
    unpaired += begun;
    for (; nodes.size > 0; pop()) {
      if (isPair()) {
        open.items[names.items[names.size - 1]]--;
      }
    }
    begun = 0;
  }

  /** Ends what lasts no longer than until a moment; returns what time is added up to. */
  private long endUntil(long now, long from) {
    long last = from;
    while (nodes.size > 0 && ends.items[ends.size - 1] <= now && !isPair()) {
      long end = ends.items[ends.size - 1];
      put(nodes.items[nodes.size - 1], end - last);
      last = Math.max(last, end);
      pop();
    }
    return last;
  }

  /** Takes the ends of a moment that end what began before. */
  private void endOlder(int[] order, int from, int to, long[] lengths, int[] named, BitSet done) {
    int begins = 0;
    for (int i = from; i < to && to - from > 1; i++) {
      int name = named[order[i]];
      long length = lengths[order[i]];
      if (length == BEGINS) {
        begins++;
        int unused = fresh.merge(name, 1, Integer::sum);
      } else if (length == ENDS && name == none && begins > 0) {
        begins--;
      } else if (length == ENDS && name != none && take(fresh, name)) {
        begins--;
      } else if (length == ENDS && (name == none ? begun : open.get(name)) > 0) {
        end(name);
        done.set(i);
      }
    }
  }

  private void begin(int name, long length, long now, int above) {
    boolean pair = length == BEGINS;
    if (pair && take(early, name)) {
      unpaired--;
      return;
    }
    // What would last longer than what it is in ends with that.
    long outer = ends.size == 0 ? BEGINS : ends.items[ends.size - 1];
    int node = tree.child(nodes.size == 0 ? above : nodes.items[nodes.size - 1], name);
    nodes.add(node);
    names.add(name);
    ends.add(pair ? BEGINS : Math.min(BEGINS - 1, Math.min(outer, now + length)));
    if (pair) {
      begun++;
      open.set(name, open.get(name) + 1);
    }
  }

  private void end(int name) {
    if (name == none ? begun == 0 : open.get(name) == 0) {
      if (take(cut, name)) {
        unpaired--;
        return;
      }
      unpaired++;
      if (name != none) {
        int unused = early.merge(name, 1, Integer::sum);
      }
      return;
    }
    while (true) {
      boolean pair = isPair();
      int ended = names.items[names.size - 1];
      pop();
      if (!pair) {
        continue;
      }
      begun--;
      open.items[ended]--;
      if (name == none || ended == name) {
        return;
      }
      unpaired++;
      int unused = cut.merge(ended, 1, Integer::sum);
    }
  }

  /** Takes one of what is counted by name; returns false if there is none. */
  private static boolean take(Map<Integer, Integer> from, int name) {
    int left = from.isEmpty() ? 0 : from.getOrDefault(name, 0);
    if (left > 0) {
      Integer unused = from.put(name, left - 1);
    }
    return left > 0;
  }

  /** Whether the innermost event ends by its other half. */
  private boolean isPair() {
    return ends.items[ends.size - 1] == BEGINS;
  }

  private void pop() {
    nodes.size--;
    names.size--;
    ends.size--;
  }

  private void put(int node, long value) {
    counts |= value > 0;
    if (value > 0 && (node < 0 || !tree.add(node, 0, value))) {
      unheld++;
    }
  }
}
