package flametop.profile.format;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * The order in which the events of a thread are gone through: by their times, and of one moment the
 * outer before the inner.
 *
 * <p>Complete events say their length, so the longer is the outer one. The halves of pairs keep the
 * order of the file among each other. A complete event is outside of a pair that begins with it if
 * it lasts longer.
 */
final class TraceOrder {
  private static final long BEGINS = TraceReplay.BEGINS;
  private static final long ENDS = TraceReplay.ENDS;

  private final long[] at;
  private final long[] lasts;
  private final int[] named;
  private final int none;

  private TraceOrder(long[] at, long[] lasts, int[] named, int none) {
    this.at = at;
    this.lasts = lasts;
    this.named = named;
    this.none = none;
  }

  /**
   * The numbers of events in their order.
   *
   * @param at when each begins
   * @param lasts how long each lasts; {@link TraceReplay#BEGINS} and {@link TraceReplay#ENDS} of
   *     the halves of a pair
   * @param named the number of each one's name
   * @param count how many events there are
   * @param none the number of the empty name
   */
  static int[] of(long[] at, long[] lasts, int[] named, int count, int none) {
    boolean pairs = false;
    boolean complete = false;
    for (int i = 0; i < count; i++) {
      boolean half = lasts[i] == ENDS || lasts[i] == BEGINS;
      pairs |= half;
      complete |= !half;
    }
    boolean byLength = !pairs;
    Comparator<Integer> byTime =
        (a, b) -> {
          int first = Long.compare(at[a], at[b]);
          return first != 0 || !byLength ? first : Long.compare(lasts[b], lasts[a]);
        };
    boolean sorted = true;
    for (int i = 1; i < count && sorted; i++) {
      sorted = at[i] > at[i - 1] || at[i] == at[i - 1] && (!byLength || lasts[i] <= lasts[i - 1]);
    }
    int[] order =
        sorted
            ? IntStream.range(0, count).toArray()
            : IntStream.range(0, count).boxed().sorted(byTime).mapToInt(i -> i).toArray();
    if (pairs && complete) {
      new TraceOrder(at, lasts, named, none).placeComplete(order);
    }
    return order;
  }

  /** Places the complete events of each moment that has pairs too. */
  private void placeComplete(int[] order) {
    long[] lengths = null;
    for (int from = 0, to; from < order.length; from = to) {
      to = from + 1;
      while (to < order.length && at[order[to]] == at[order[from]]) {
        to++;
      }
      if (to - from > 1) {
        lengths = lengths == null ? lengths(order) : lengths;
        placeComplete(order, from, to, lengths);
      }
    }
  }

  private void placeComplete(int[] order, int from, int to, long[] lengths) {
    int[] moment = Arrays.copyOfRange(order, from, to);
    int[] complete =
        Arrays.stream(moment)
            .filter(event -> !isHalf(event))
            .boxed()
            .sorted(Comparator.comparing((Integer event) -> lengths[event]).reversed())
            .mapToInt(event -> event)
            .toArray();
    int placed = 0;
    int next = from;
    for (int event : moment) {
      if (!isHalf(event)) {
        continue;
      }
      while (lasts[event] == BEGINS
          && placed < complete.length
          && isOutside(complete[placed], event, lengths)) {
        order[next++] = complete[placed++];
      }
      order[next++] = event;
    }
    System.arraycopy(complete, placed, order, next, complete.length - placed);
  }

  /** Whether a complete event lasts longer than a pair; of equal length, whether it came first. */
  private static boolean isOutside(int complete, int pair, long[] lengths) {
    int longer = Long.compare(lengths[complete], lengths[pair]);
    return longer > 0 || longer == 0 && complete < pair;
  }

  private boolean isHalf(int event) {
    return lasts[event] == BEGINS || lasts[event] == ENDS;
  }

  /**
   * How long each event lasts; of a pair until the first end that may be its own, {@link
   * TraceReplay#BEGINS} if there is none.
   */
  private long[] lengths(int[] order) {
    long[] lengths = Arrays.copyOf(lasts, order.length);
    Deque<Integer> open = new ArrayDeque<>();
    Map<Integer, Deque<Integer>> byName = new HashMap<>();
    BitSet ended = new BitSet();
    for (int event : order) {
      if (lasts[event] == BEGINS) {
        open.push(event);
        byName.computeIfAbsent(named[event], name -> new ArrayDeque<>()).push(event);
      } else if (lasts[event] == ENDS) {
        Deque<Integer> from = named[event] == none ? open : byName.get(named[event]);
        while (from != null && !from.isEmpty()) {
          int begin = from.pop();
          if (!ended.get(begin)) {
            ended.set(begin);
            lengths[begin] = at[event] - at[begin];
            break;
          }
        }
      }
    }
    return lengths;
  }
}
