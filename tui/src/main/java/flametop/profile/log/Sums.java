package flametop.profile.log;

import flametop.profile.tree.Room;
import java.util.Arrays;

/**
 * Sums by (thing, kind) at the head of a window, at its tail, and at the beginning of the window
 * before. A thing without an entry of a kind has no slot for that kind. A sum is {@code base +
 * open·t} ns at time t (see {@link ChangeLog}); the amount of a window is its sum at the head less
 * that at the tail.
 */
public final class Sums {
  static final int NONE = -1;

  private int slots;
  private int[] next = new int[1024];
  private byte[] kind = new byte[1024];
  private int[] headOpen = new int[1024];
  private int[] tailOpen = new int[1024];
  private long[] headBase = new long[1024];
  private long[] tailBase = new long[1024];
  private long[] headSamples;
  private long[] tailSamples;

  /** Null while nobody asks for the window before. */
  private int[] beginOpen;

  private long[] beginBase;

  private int[] first = new int[1024];
  private int things;

  /**
   * @param samples whether passes and samples are counted too
   */
  public Sums(boolean samples) {
    if (samples) {
      headSamples = new long[1024];
      tailSamples = new long[1024];
    }
  }

  /** Makes room for all things below {@code count}. */
  public void things(int count) {
    if (count > first.length) {
      first = Arrays.copyOf(first, Math.max(count, Room.after(first.length)));
    }
    for (; things < count; things++) {
      first[things] = NONE;
    }
  }

  public void addHead(int thing, int kind, long base, int open, long samples) {
    int slot = slot(thing, kind);
    headBase[slot] += base;
    headOpen[slot] += open;
    if (headSamples != null) {
      headSamples[slot] += samples;
    }
  }

  public void addTail(int thing, int kind, long base, int open, long samples) {
    int slot = slot(thing, kind);
    tailBase[slot] += base;
    tailOpen[slot] += open;
    if (tailSamples != null) {
      tailSamples[slot] += samples;
    }
  }

  /** The window before begins where it ends, at the tail. */
  public void beginAtTail() {
    beginBase = tailBase.clone();
    beginOpen = tailOpen.clone();
  }

  public void addBegin(int thing, int kind, long base, int open) {
    int slot = slot(thing, kind);
    beginBase[slot] += base;
    beginOpen[slot] += open;
  }

  /** Nobody asks for the window before any more. */
  public void endBegin() {
    beginBase = null;
    beginOpen = null;
  }

  private int slot(int thing, int wanted) {
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if (kind[slot] == wanted) {
        return slot;
      }
    }
    if (slots == next.length) {
      int length = Room.after(slots);
      next = Arrays.copyOf(next, length);
      kind = Arrays.copyOf(kind, length);
      headOpen = Arrays.copyOf(headOpen, length);
      tailOpen = Arrays.copyOf(tailOpen, length);
      headBase = Arrays.copyOf(headBase, length);
      tailBase = Arrays.copyOf(tailBase, length);
      if (headSamples != null) {
        headSamples = Arrays.copyOf(headSamples, length);
        tailSamples = Arrays.copyOf(tailSamples, length);
      }
      if (beginBase != null) {
        beginBase = Arrays.copyOf(beginBase, length);
        beginOpen = Arrays.copyOf(beginOpen, length);
      }
    }
    next[slots] = first[thing];
    kind[slots] = (byte) wanted;
    first[thing] = slots;
    return slots++;
  }

  /** All sums of a thing are zero. */
  public void clear(int thing) {
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      headBase[slot] = 0;
      headOpen[slot] = 0;
      tailBase[slot] = 0;
      tailOpen[slot] = 0;
      if (headSamples != null) {
        headSamples[slot] = 0;
        tailSamples[slot] = 0;
      }
      if (beginBase != null) {
        beginBase[slot] = 0;
        beginOpen[slot] = 0;
      }
    }
  }

  /** Whether all sums of a thing are zero. */
  public boolean isZero(int thing) {
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if ((headBase[slot] | tailBase[slot] | headOpen[slot] | tailOpen[slot]) != 0
          || headSamples != null && (headSamples[slot] | tailSamples[slot]) != 0) {
        return false;
      }
    }
    return true;
  }

  /** Slots of all things; each has one number. */
  public int slots() {
    return slots;
  }

  /** A slot of a thing; {@link #NONE} if the thing has none. */
  public int first(int thing) {
    return first[thing];
  }

  /** The next slot of the same thing; {@link #NONE} after the last. */
  public int next(int slot) {
    return next[slot];
  }

  public int kind(int slot) {
    return kind[slot];
  }

  /** ns of a slot in a window. */
  public long amount(int slot, Window window) {
    long sum = headBase[slot] + headOpen[slot] * window.headTime();
    return window.whole() ? sum : sum - tailBase[slot] - tailOpen[slot] * window.tailTime();
  }

  /** ns of a slot in the window before, from {@code begin} to the tail of this one, ns. */
  public long before(int slot, Window window, long begin) {
    return tailBase[slot]
        + tailOpen[slot] * window.tailTime()
        - beginBase[slot]
        - beginOpen[slot] * begin;
  }

  /** Passes seen and samples of a slot in a window. */
  public long samples(int slot, Window window) {
    long sum = headSamples[slot] + headOpen[slot] * window.headPass();
    return window.whole() ? sum : sum - tailSamples[slot] - tailOpen[slot] * window.tailPass();
  }

  /**
   * ns of a thing.
   *
   * @param kinds a bit for each kind that counts
   */
  public long weight(int thing, int kinds, Window window) {
    long sum = 0;
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if ((kinds & 1 << kind[slot]) != 0) {
        sum += amount(slot, window);
      }
    }
    return sum;
  }

  /** Like {@link #weight}, in passes seen and samples. */
  public long samples(int thing, int kinds, Window window) {
    long sum = 0;
    for (int slot = first[thing]; slot >= 0; slot = next[slot]) {
      if ((kinds & 1 << kind[slot]) != 0) {
        sum += samples(slot, window);
      }
    }
    return sum;
  }
}
