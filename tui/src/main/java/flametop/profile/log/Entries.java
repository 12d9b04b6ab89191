package flametop.profile.log;

import java.util.Arrays;

/**
 * Entries of the {@link ChangeLog} in the order in which they came, as columns. The log says what
 * an entry adds to the sums of an owner, a stack and a spot.
 */
final class Entries {
  /** Memory of an entry. */
  static final int BYTES = 8 + 8 + 4 + 4 + 4 + 2;

  int[] owner;
  int[] stack;
  char[] spot;
  int[] open;
  long[] base;
  long[] samples;
  int count;

  Entries(int capacity) {
    owner = new int[capacity];
    stack = new int[capacity];
    spot = new char[capacity];
    open = new int[capacity];
    base = new long[capacity];
    samples = new long[capacity];
  }

  void add(int ofOwner, int ofStack, int ofSpot, int itsOpen, long itsBase, long itsSamples) {
    if (count == owner.length) {
      room(2 * count);
    }
    owner[count] = ofOwner;
    stack[count] = ofStack;
    spot[count] = (char) ofSpot;
    open[count] = itsOpen;
    base[count] = itsBase;
    samples[count++] = itsSamples;
  }

  /** Tells of entries, from one index to before another; negated if {@code sign} is -1. */
  void deliver(int from, int to, int sign, ChangeLog.Sink sink) {
    for (int i = from; i < to; i++) {
      sink.change(owner[i], stack[i], spot[i], sign * base[i], sign * open[i], sign * samples[i]);
    }
  }

  /** Forgets all entries, and has room for so many. */
  void clear(int capacity) {
    count = 0;
    if (owner.length < capacity) {
      room(capacity);
    }
  }

  private void room(int length) {
    owner = Arrays.copyOf(owner, length);
    stack = Arrays.copyOf(stack, length);
    spot = Arrays.copyOf(spot, length);
    open = Arrays.copyOf(open, length);
    base = Arrays.copyOf(base, length);
    samples = Arrays.copyOf(samples, length);
  }

  long bytes() {
    return (long) owner.length * BYTES;
  }
}
