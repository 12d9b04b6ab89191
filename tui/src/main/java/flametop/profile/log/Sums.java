package flametop.profile.log;

import flametop.array.IntColumn;
import flametop.array.LongColumn;

/**
 * Sums by (thing, kind) at the head of a window, at its tail, and at the beginning of the window
 * before. A thing without an entry of a kind has no slot for that kind. A sum is {@code base +
 * open·t} ns at time t (see {@link ChangeLog}); the amount of a window is its sum at the head less
 * that at the tail.
 */
public final class Sums {
  static final int NONE = -1;

  /** The sums at one moment, by slot. */
  private static final class Moment {
    LongColumn base = new LongColumn();
    IntColumn open = new IntColumn();

    /** Null where passes and samples are not counted. */
    final LongColumn samples;

    Moment(boolean counts) {
      samples = counts ? new LongColumn() : null;
    }

    void append() {
      base.add(0);
      open.add(0);
      if (samples != null) {
        samples.add(0);
      }
    }

    void add(int slot, long itsBase, int itsOpen, long itsSamples) {
      base.items[slot] += itsBase;
      open.items[slot] += itsOpen;
      if (samples != null) {
        samples.items[slot] += itsSamples;
      }
    }

    void clear(int slot) {
      add(slot, -base.items[slot], -open.items[slot], samples == null ? 0 : -samples.items[slot]);
    }

    boolean isZero(int slot) {
      return (base.items[slot] | open.items[slot]) == 0
          && (samples == null || samples.items[slot] == 0);
    }

    long nanos(int slot, long time) {
      return base.items[slot] + open.items[slot] * time;
    }

    long samples(int slot, long pass) {
      return samples.items[slot] + open.items[slot] * pass;
    }
  }

  private final Moment head;
  private final Moment tail;

  /** Null while nobody asks for the window before. */
  private Moment begin;

  // By slot.
  private final IntColumn next = new IntColumn();
  private final IntColumn kind = new IntColumn();

  /** By thing: the slot that came last. */
  private final IntColumn first = new IntColumn(NONE);

  /**
   * @param samples whether passes and samples are counted too
   */
  public Sums(boolean samples) {
    head = new Moment(samples);
    tail = new Moment(samples);
  }

  public void addHead(int thing, int kind, long base, int open, long samples) {
    head.add(slot(thing, kind), base, open, samples);
  }

  public void addTail(int thing, int kind, long base, int open, long samples) {
    tail.add(slot(thing, kind), base, open, samples);
  }

  /** Begins the window before where that window ends, at the tail. */
  public void beginAtTail() {
    begin = new Moment(false);
    begin.base = tail.base.copy();
    begin.open = tail.open.copy();
  }

  public void addBegin(int thing, int kind, long base, int open) {
    begin.add(slot(thing, kind), base, open, 0);
  }

  /** Forgets the window before. */
  public void endBegin() {
    begin = null;
  }

  private int slot(int thing, int wanted) {
    int newest = first.get(thing);
    for (int slot = newest; slot >= 0; slot = next.items[slot]) {
      if (kind.items[slot] == wanted) {
        return slot;
      }
    }
    int slot = slots();
    next.add(newest);
    kind.add(wanted);
    first.set(thing, slot);
    head.append();
    tail.append();
    if (begin != null) {
      begin.append();
    }
    return slot;
  }

  /** Has all sums of a thing be zero. */
  public void clear(int thing) {
    for (int slot = first(thing); slot >= 0; slot = next(slot)) {
      head.clear(slot);
      tail.clear(slot);
      if (begin != null) {
        begin.clear(slot);
      }
    }
  }

  /** Whether all sums of a thing are zero. */
  public boolean isZero(int thing) {
    for (int slot = first(thing); slot >= 0; slot = next(slot)) {
      if (!head.isZero(slot) || !tail.isZero(slot)) {
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
    return kind.size;
  }

  /** A slot of a thing; {@link #NONE} if the thing has none. */
  public int first(int thing) {
    return first.get(thing);
  }

  /** The next slot of the same thing; {@link #NONE} after the last. */
  public int next(int slot) {
    return next.items[slot];
  }

  public int kind(int slot) {
    return kind.items[slot];
  }

  /** ns of a slot in a window. */
  public long amount(int slot, Window window) {
    long sum = head.nanos(slot, window.headTime());
    return window.whole() ? sum : sum - tail.nanos(slot, window.tailTime());
  }

  /** ns of a slot in the window before, from {@code begin} to the tail of this one, ns. */
  public long before(int slot, Window window, long from) {
    return tail.nanos(slot, window.tailTime()) - begin.nanos(slot, from);
  }

  /** Passes seen and samples of a slot in a window. */
  public long samples(int slot, Window window) {
    long sum = head.samples(slot, window.headPass());
    return window.whole() ? sum : sum - tail.samples(slot, window.tailPass());
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
