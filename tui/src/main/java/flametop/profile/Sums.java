package flametop.profile;

import java.util.Arrays;

/**
 * Time by (thing, state) at the head of a window and at its tail. A thing that was never in a state
 * has no slot for it. A sum is {@code base + open·t} ns at time t (see {@link ChangeLog}); the
 * weight of a window is its sum at the head less that at the tail.
 */
final class Sums {
  private int slots;
  private int[] next = new int[1024];
  private byte[] state = new byte[1024];
  private int[] headOpen = new int[1024];
  private int[] tailOpen = new int[1024];
  private long[] headBase = new long[1024];
  private long[] tailBase = new long[1024];
  private long[] headSamples;
  private long[] tailSamples;

  /** ns of the window that others are compared with; null if there is none. */
  private long[] baseline;

  private int[] first = new int[1024];
  private int things;

  /**
   * @param samples whether passes and samples are counted too
   */
  Sums(boolean samples) {
    if (samples) {
      headSamples = new long[1024];
      tailSamples = new long[1024];
    }
  }

  /** Makes room for all things below {@code count}. */
  void things(int count) {
    if (count > first.length) {
      first = Arrays.copyOf(first, Math.max(count, Room.after(first.length)));
    }
    for (; things < count; things++) {
      first[things] = -1;
    }
  }

  void addHead(int thing, int state, long base, int open, long samples) {
    int slot = slot(thing, state);
    headBase[slot] += base;
    headOpen[slot] += open;
    if (headSamples != null) {
      headSamples[slot] += samples;
    }
  }

  void addTail(int thing, int state, long base, int open, long samples) {
    int slot = slot(thing, state);
    tailBase[slot] += base;
    tailOpen[slot] += open;
    if (tailSamples != null) {
      tailSamples[slot] += samples;
    }
  }

  private int slot(int thing, int wanted) {
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if (state[slot] == wanted) {
        return slot;
      }
    }
    if (slots == next.length) {
      int length = Room.after(slots);
      next = Arrays.copyOf(next, length);
      state = Arrays.copyOf(state, length);
      headOpen = Arrays.copyOf(headOpen, length);
      tailOpen = Arrays.copyOf(tailOpen, length);
      headBase = Arrays.copyOf(headBase, length);
      tailBase = Arrays.copyOf(tailBase, length);
      if (headSamples != null) {
        headSamples = Arrays.copyOf(headSamples, length);
        tailSamples = Arrays.copyOf(tailSamples, length);
      }
      if (baseline != null) {
        baseline = Arrays.copyOf(baseline, length);
      }
    }
    next[slots] = first[thing];
    state[slots] = (byte) wanted;
    first[thing] = slots;
    return slots++;
  }

  /** All sums of a thing are zero. */
  void clear(int thing) {
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      headBase[slot] = 0;
      headOpen[slot] = 0;
      tailBase[slot] = 0;
      tailOpen[slot] = 0;
      if (headSamples != null) {
        headSamples[slot] = 0;
        tailSamples[slot] = 0;
      }
      if (baseline != null) {
        baseline[slot] = 0;
      }
    }
  }

  /** Whether all sums of a thing are zero. */
  boolean isZero(int thing) {
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if ((headBase[slot] | tailBase[slot] | headOpen[slot] | tailOpen[slot]) != 0
          || headSamples != null && (headSamples[slot] | tailSamples[slot]) != 0
          || baseline != null && baseline[slot] != 0) {
        return false;
      }
    }
    return true;
  }

  /** Adds {@code sign} times all sums of {@code entry} of {@code from} to a thing. */
  void addAll(int thing, Sums from, int entry, int sign) {
    for (int slot = from.first[entry]; slot >= 0; slot = from.next[slot]) {
      int to = slot(thing, from.state[slot]);
      headBase[to] += sign * from.headBase[slot];
      headOpen[to] += sign * from.headOpen[slot];
      tailBase[to] += sign * from.tailBase[slot];
      tailOpen[to] += sign * from.tailOpen[slot];
      if (baseline != null) {
        baseline[to] += sign * from.baseline[slot];
      }
    }
  }

  /**
   * ns of a thing.
   *
   * @param states bits by {@link flametop.sampler.State#ordinal()}
   */
  long weight(int thing, int states, Window window) {
    long sum = 0;
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if ((states & 1 << state[slot]) != 0) {
        sum += headBase[slot] + headOpen[slot] * window.headTime();
        if (!window.whole()) {
          sum -= tailBase[slot] + tailOpen[slot] * window.tailTime();
        }
      }
    }
    return sum;
  }

  /** What the window has now is what later ones are compared with. */
  void hold(Window window) {
    baseline = new long[next.length];
    for (int slot = 0; slot < slots; slot++) {
      baseline[slot] = headBase[slot] + headOpen[slot] * window.headTime();
      if (!window.whole()) {
        baseline[slot] -= tailBase[slot] + tailOpen[slot] * window.tailTime();
      }
    }
  }

  /** Nothing is compared any more. */
  void release() {
    baseline = null;
  }

  /** ns of a thing in the window that was held; 0 if none is. */
  long baseline(int thing, int states) {
    long sum = 0;
    for (int slot = first[thing]; baseline != null && slot >= 0; slot = next[slot]) {
      if ((states & 1 << state[slot]) != 0) {
        sum += baseline[slot];
      }
    }
    return sum;
  }

  /** Intervals of a thing that are open at the tail. */
  long tailOpen(int thing, int states) {
    long sum = 0;
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if ((states & 1 << state[slot]) != 0) {
        sum += tailOpen[slot];
      }
    }
    return sum;
  }

  /** Like {@link #weight}, in passes seen and samples. */
  long samples(int thing, int states, Window window) {
    long sum = 0;
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if ((states & 1 << state[slot]) != 0) {
        sum += headSamples[slot] + headOpen[slot] * window.headPass();
        if (!window.whole()) {
          sum -= tailSamples[slot] + tailOpen[slot] * window.tailPass();
        }
      }
    }
    return sum;
  }
}
