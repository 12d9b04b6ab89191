package flametop.profile.log;

import java.util.Arrays;
import java.util.BitSet;

/**
 * A part of the {@link ChangeLog}: entries, and marks behind some of them, each with a time. The
 * newest chunk has its entries as columns; all others are packed by {@link Packing}.
 */
final class Chunk {
  private static final int MARK_BYTES = 8 + 8 + 4;
  private static final int OBJECT_BYTES = 150;

  long[] markTime = new long[4];
  int[] markEnd = new int[4];
  long[] markPass = new long[4];
  int marks;

  /** The marks behind which the rest of a batch comes. */
  private final BitSet within = new BitSet();

  /** The packed entries; empty while they are columns. */
  byte[] packed = {};

  /** How many entries are packed. */
  int count;

  /** Each mark sums up so much time, ns; {@link ChangeLog#FULL} if nothing is summed up. */
  final long step;

  Chunk(long step) {
    this.step = step;
  }

  boolean isPacked() {
    return packed.length > 0;
  }

  /** Packs the entries, and gives back the room behind the last mark. */
  void pack(Packing packing, Entries entries) {
    packed = packing.pack(entries);
    count = entries.count;
    resizeMarks(marks);
  }

  /** Puts a mark behind the entry before {@code end}. */
  void mark(long time, long pass, int end) {
    if (marks == markTime.length) {
      resizeMarks(2 * marks);
    }
    markTime[marks] = time;
    markPass[marks] = pass;
    markEnd[marks++] = end;
  }

  /** Puts a mark behind the entry before {@code end}, within a batch. */
  void markWithin(long time, long pass, int end) {
    mark(time, pass, end);
    within.set(marks - 1);
  }

  /** Whether the rest of a batch comes behind a mark. */
  boolean isWithin(int mark) {
    return within.get(mark);
  }

  /** The last mark at or before a mark that ends a batch; -1 if there is none. */
  int wholeAt(int mark) {
    return mark < 0 ? -1 : within.previousClearBit(mark);
  }

  /** The next mark at or after a mark that ends a batch; the number of marks if there is none. */
  int wholeFrom(int mark) {
    return Math.min(marks, within.nextClearBit(mark));
  }

  /** The first entry of a mark; its last is before {@code markEnd}. */
  int begin(int mark) {
    return mark == 0 ? 0 : markEnd[mark - 1];
  }

  /** The mark that an entry belongs to. */
  int markOf(int entry) {
    int low = 0;
    int high = marks - 1;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (entry < markEnd[middle]) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  long endTime() {
    return markTime[marks - 1];
  }

  long endPass() {
    return markPass[marks - 1];
  }

  private void resizeMarks(int length) {
    markTime = Arrays.copyOf(markTime, length);
    markEnd = Arrays.copyOf(markEnd, length);
    markPass = Arrays.copyOf(markPass, length);
  }

  /** Memory of marks and packed entries. */
  long bytes() {
    return OBJECT_BYTES + packed.length + (long) markTime.length * MARK_BYTES + within.size() / 8;
  }
}
