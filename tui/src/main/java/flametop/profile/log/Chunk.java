package flametop.profile.log;

import java.util.Arrays;

/**
 * A part of the {@link ChangeLog}: entries in the order they came, and marks behind some of them,
 * each with a time. What an entry adds to its (owner, stack, spot) is said there.
 */
final class Chunk {
  static final int ENTRY_BYTES = 8 + 8 + 4 + 4 + 4 + 2;
  private static final int MARK_BYTES = 8 + 8 + 4;

  int[] owner;
  int[] stack;
  char[] spot;
  int[] open;
  long[] base;
  long[] samples;
  int count;

  long[] markTime = new long[4];
  int[] markEnd = new int[4];
  long[] markPass = new long[4];
  int marks;

  /** Whether the chunk is sums of entries, one for each second. */
  boolean merged;

  /** Whether the chunk is one sum of all of the oldest history. */
  boolean sum;

  Chunk(int capacity) {
    owner = new int[capacity];
    stack = new int[capacity];
    spot = new char[capacity];
    open = new int[capacity];
    base = new long[capacity];
    samples = new long[capacity];
  }

  boolean isFull() {
    return count == owner.length;
  }

  void add(int ofOwner, int ofStack, int ofSpot, int itsOpen, long itsBase, long itsSamples) {
    if (isFull()) {
      resize(2 * count);
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

  /** Puts a mark behind the last entry. */
  void mark(long time, long pass) {
    if (marks == markTime.length) {
      resizeMarks(2 * marks);
    }
    markTime[marks] = time;
    markPass[marks] = pass;
    markEnd[marks++] = count;
  }

  /** The first entry of a mark; its last is before {@code markEnd}. */
  int begin(int mark) {
    return mark == 0 ? 0 : markEnd[mark - 1];
  }

  long endTime() {
    return markTime[marks - 1];
  }

  long endPass() {
    return markPass[marks - 1];
  }

  /** Gives back the room behind the last entry and the last mark. */
  void trim() {
    resize(count);
    resizeMarks(marks);
  }

  private void resize(int length) {
    owner = Arrays.copyOf(owner, length);
    stack = Arrays.copyOf(stack, length);
    spot = Arrays.copyOf(spot, length);
    open = Arrays.copyOf(open, length);
    base = Arrays.copyOf(base, length);
    samples = Arrays.copyOf(samples, length);
  }

  private void resizeMarks(int length) {
    markTime = Arrays.copyOf(markTime, length);
    markEnd = Arrays.copyOf(markEnd, length);
    markPass = Arrays.copyOf(markPass, length);
  }

  long bytes() {
    return (long) owner.length * ENTRY_BYTES + (long) markTime.length * MARK_BYTES;
  }
}
