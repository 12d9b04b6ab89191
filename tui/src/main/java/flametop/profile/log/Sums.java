package flametop.profile.log;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import java.util.Arrays;

/**
 * Sums by (thing, kind) at the head of a window, at its tail, and at the beginning of the window
 * before. A thing without an entry of a kind has no slot for that kind. A sum is {@code base +
 * open·t} ns at time t (see {@link ChangeLog}); the amount of a window is its sum at the head less
 * that at the tail.
 */
public final class Sums {
  static final int NONE = -1;

  // What a slot has in the columns below. What is read together stands together.
  private static final int HEAD = 0;
  private static final int TAIL = 1;

  /** Samples stand so far behind the bases. */
  private static final int SAMPLES = 2;

  /** For each slot the bases at head and tail and, where they are counted, the samples. */
  private final LongColumn bases = new LongColumn();

  private final IntColumn opens = new IntColumn();

  /** Longs of a slot. */
  private final int width;

  /** By slot, at the beginning of the window before; empty while nobody asks for that window. */
  private LongColumn beginBase = new LongColumn();

  private IntColumn beginOpen = new IntColumn();

  /** By slot: the slot of the same thing that came before, and the kind. */
  private final IntColumn links = new IntColumn();

  private static final int KIND_BITS = 5;

  /** By thing: the slot that came last. */
  private final IntColumn first = new IntColumn(NONE);

  /**
   * @param samples whether passes and samples are counted too
   */
  public Sums(boolean samples) {
    width = samples ? 4 : 2;
  }

  public void addHead(int thing, int kind, long base, int open, long samples) {
    add(slot(thing, kind), HEAD, base, open, samples);
  }

  public void addTail(int thing, int kind, long base, int open, long samples) {
    add(slot(thing, kind), TAIL, base, open, samples);
  }

  private void add(int slot, int at, long base, int open, long samples) {
    opens.items[2 * slot + at] += open;
    long[] sums = bases.items;
    int row = width * slot + at;
    sums[row] += base;
    if (width > SAMPLES) {
      sums[row + SAMPLES] += samples;
    }
  }

  /** Begins the window before where that window ends, at the tail. */
  public void beginAtTail() {
    endBegin();
    for (int slot = 0; slot < slots(); slot++) {
      beginBase.add(bases.items[width * slot + TAIL]);
      beginOpen.add(opens.items[2 * slot + TAIL]);
    }
  }

  public void addBegin(int thing, int kind, long base, int open) {
    int slot = slot(thing, kind);
    beginBase.set(slot, beginBase.get(slot) + base);
    beginOpen.set(slot, beginOpen.get(slot) + open);
  }

  /** Forgets the window before. */
  public void endBegin() {
    beginBase = new LongColumn();
    beginOpen = new IntColumn();
  }

  private int slot(int thing, int wanted) {
    int found = find(thing, wanted);
    if (found >= 0) {
      return found;
    }
    int slot = slots();
    links.add(first(thing) << KIND_BITS | wanted);
    first.set(thing, slot);
    opens.add(0);
    opens.add(0);
    for (int i = 0; i < width; i++) {
      bases.add(0);
    }
    return slot;
  }

  private int find(int thing, int kind) {
    int slot = first(thing);
    while (slot >= 0 && kind(slot) != kind) {
      slot = next(slot);
    }
    return slot;
  }

  /** Sets all sums of a thing to zero. */
  public void clear(int thing) {
    for (int slot = first(thing); slot >= 0; slot = next(slot)) {
      Arrays.fill(bases.items, width * slot, width * (slot + 1), 0);
      Arrays.fill(opens.items, 2 * slot, 2 * slot + 2, 0);
      if (slot < beginBase.size) {
        beginBase.set(slot, 0);
        beginOpen.set(slot, 0);
      }
    }
  }

  /** Whether all sums of a thing are zero. */
  public boolean isZero(int thing) {
    for (int slot = first(thing); slot >= 0; slot = next(slot)) {
      long any = opens.items[2 * slot + HEAD] | opens.items[2 * slot + TAIL];
      for (int row = width * slot; row < width * (slot + 1); row++) {
        any |= bases.items[row];
      }
      if (any != 0) {
        return false;
      }
    }
    return true;
  }

  /** All things with a sum are below. */
  public int things() {
    return first.size;
  }

  /** Slots of all things; each has one number. */
  public int slots() {
    return links.size;
  }

  /** A slot of a thing; {@link #NONE} if the thing has none. */
  public int first(int thing) {
    return first.get(thing);
  }

  /** The next slot of the same thing; {@link #NONE} after the last. */
  public int next(int slot) {
    return links.items[slot] >> KIND_BITS;
  }

  public int kind(int slot) {
    return links.items[slot] & (1 << KIND_BITS) - 1;
  }

  /** ns of a slot in a window. */
  public long amount(int slot, Window window) {
    long[] sums = bases.items;
    int[] open = opens.items;
    int row = width * slot;
    long sum = sums[row] + open[2 * slot] * window.headTold();
    return window.whole()
        ? sum
        : sum - sums[row + TAIL] - open[2 * slot + TAIL] * window.tailTold();
  }

  /** ns of a thing in one kind at the head, whatever the window is. */
  public long head(int thing, int kind, long time) {
    int slot = find(thing, kind);
    return slot < 0 ? 0 : bases.items[width * slot + HEAD] + opens.items[2 * slot + HEAD] * time;
  }

  /**
   * ns of a slot in the window before.
   *
   * @param begin the time up to which stays are told where that window begins, ns
   */
  public long before(int slot, Window window, long begin) {
    return bases.items[width * slot + TAIL]
        + opens.items[2 * slot + TAIL] * window.tailTold()
        - beginBase.get(slot)
        - beginOpen.get(slot) * begin;
  }

  /** Passes seen and samples of a slot in a window. */
  public long samples(int slot, Window window) {
    long[] sums = bases.items;
    int[] open = opens.items;
    int row = width * slot + SAMPLES;
    long sum = sums[row] + open[2 * slot] * window.headPass();
    return window.whole()
        ? sum
        : sum - sums[row + TAIL] - open[2 * slot + TAIL] * window.tailPass();
  }

  /**
   * ns of a thing.
   *
   * @param kinds a bit for each kind that counts
   */
  public long weight(int thing, int kinds, Window window) {
    long sum = 0;
    for (int slot = first(thing); slot >= 0; slot = next(slot)) {
      if ((kinds & 1 << kind(slot)) != 0) {
        sum += amount(slot, window);
      }
    }
    return sum;
  }

  /** Like {@link #weight}, in passes seen and samples. */
  public long samples(int thing, int kinds, Window window) {
    long sum = 0;
    for (int slot = first(thing); slot >= 0; slot = next(slot)) {
      if ((kinds & 1 << kind(slot)) != 0) {
        sum += samples(slot, window);
      }
    }
    return sum;
  }
}
