package flametop.profile.log;

import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * What changed, in the order it was seen: append-only, and bounded in memory.
 *
 * <p>Time is linear in what an entry adds, so one form serves every kind of change. An interval
 * that opens at {@code s} adds {@code (base −s, open 1)} to its (owner, stack, spot), one that
 * closes at {@code e} adds {@code (e, −1)}, and time that is over adds {@code (ns, 0)}, as does a
 * sample with the time that the sample stands for. The sum of all entries of a key has the weight
 * {@code base + open·t} at time {@code t}. Passes seen are counted alike, with the number of the
 * pass instead of the time. Sums of entries are entries themselves: that is how history is made
 * smaller, and why a cursor can go back by subtracting. Samples meet the time that they place only
 * when a window is read, in {@code Estimate}.
 *
 * <p>Entries stand in chunks. A chunk has marks, each with a time: cursors stand at marks only, so
 * what one batch tells is never taken apart. When the memory is used up, the oldest chunk becomes
 * one mark a second; when those take their share too, the two oldest become one sum. When that has
 * too many entries, what is gone belongs to who {@link Owners#older stands for it}, and if that is
 * not enough, what is light is not told apart any more: nothing of it is lost.
 */
public final class ChangeLog {
  /** Takes entries. */
  public interface Sink {
    void change(int owner, int stack, int spot, long base, int open, long samples);
  }

  /** Stands at a mark of the log. Needs to know when marks go away. */
  public interface Reader {
    /** The marks within {@code [from, end of chunk to)} go away, those at its two ends stay. */
    void leave(long from, long to);

    /**
     * In chunk {@code from}, something belongs to another owner, stack or spot from now on. No
     * cursor stands within the chunk.
     */
    void moved(
        long from,
        int owner,
        int stack,
        int toOwner,
        int toStack,
        int spot,
        int toSpot,
        long base,
        int open,
        long samples);

    /** Whether it tells CPUs apart. */
    boolean tellsCpus();

    /** Chunk {@code from} and chunk {@code to} became chunk {@code to}. */
    void joined(long from, long to);
  }

  /** Says whom an entry of the sum belongs to. */
  private interface Keys {
    int owner(int entry);

    int stack(int entry);
  }

  /** Place in the log: after the first {@code mark} marks of a chunk. */
  public static final class Cursor {
    public long chunk;
    int mark;

    public void set(Cursor other) {
      chunk = other.chunk;
      mark = other.mark;
    }

    /** Whether it is behind the first mark of a chunk. */
    boolean isPast(long of) {
      return chunk > of || chunk == of && mark > 0;
    }

    public boolean before(Cursor other) {
      return chunk < other.chunk || chunk == other.chunk && mark < other.mark;
    }
  }

  private static final int ENTRY_BYTES = 8 + 8 + 4 + 4 + 4 + 2;
  private static final int MARK_BYTES = 8 + 8 + 4;

  /** Time of a mark within a batch, until its end is known: a batch is never taken apart. */
  private static final long UNKNOWN_YET = Long.MAX_VALUE;

  private static final long SECOND = 1_000_000_000L;

  /** Most entries of the sum, as far as no interval is open in them. */
  private static final int SUM_ENTRIES = 1 << 15;

  private static final class Chunk {
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
    boolean merged;
    boolean sum;

    Chunk(int capacity) {
      owner = new int[capacity];
      stack = new int[capacity];
      spot = new char[capacity];
      open = new int[capacity];
      base = new long[capacity];
      samples = new long[capacity];
    }

    void mark(long time, long pass) {
      if (marks == markTime.length) {
        markTime = Arrays.copyOf(markTime, 2 * marks);
        markEnd = Arrays.copyOf(markEnd, 2 * marks);
        markPass = Arrays.copyOf(markPass, 2 * marks);
      }
      markTime[marks] = time;
      markPass[marks] = pass;
      markEnd[marks++] = count;
    }

    int begin(int mark) {
      return mark == 0 ? 0 : markEnd[mark - 1];
    }

    void trim() {
      owner = Arrays.copyOf(owner, count);
      stack = Arrays.copyOf(stack, count);
      spot = Arrays.copyOf(spot, count);
      open = Arrays.copyOf(open, count);
      base = Arrays.copyOf(base, count);
      samples = Arrays.copyOf(samples, count);
      markTime = Arrays.copyOf(markTime, marks);
      markEnd = Arrays.copyOf(markEnd, marks);
      markPass = Arrays.copyOf(markPass, marks);
    }

    long bytes() {
      return (long) owner.length * ENTRY_BYTES + (long) markTime.length * MARK_BYTES;
    }
  }

  /** Adds entries of one key together, in order of their first. */
  private static final class Merger {
    private Chunk to = new Chunk(64);
    private int[] table = new int[256];
    private int from;

    Merger() {
      Arrays.fill(table, -1);
    }

    void add(int owner, int stack, char spot, int open, long base, long samples) {
      int mask = table.length - 1;
      int at = hash(owner, stack, spot) & mask;
      int entry;
      while ((entry = table[at]) >= 0) {
        if (to.owner[entry] == owner && to.stack[entry] == stack && to.spot[entry] == spot) {
          to.open[entry] += open;
          to.base[entry] += base;
          to.samples[entry] += samples;
          return;
        }
        at = at + 1 & mask;
      }
      if (to.count == to.owner.length) {
        grow();
      }
      entry = to.count++;
      to.owner[entry] = owner;
      to.stack[entry] = stack;
      to.spot[entry] = spot;
      to.open[entry] = open;
      to.base[entry] = base;
      to.samples[entry] = samples;
      table[at] = entry;
      if (2 * (to.count - from) > table.length) {
        table = new int[2 * table.length];
        index();
      }
    }

    private void grow() {
      int capacity = 2 * to.count;
      to.owner = Arrays.copyOf(to.owner, capacity);
      to.stack = Arrays.copyOf(to.stack, capacity);
      to.spot = Arrays.copyOf(to.spot, capacity);
      to.open = Arrays.copyOf(to.open, capacity);
      to.base = Arrays.copyOf(to.base, capacity);
      to.samples = Arrays.copyOf(to.samples, capacity);
    }

    private void index() {
      Arrays.fill(table, -1);
      int mask = table.length - 1;
      for (int entry = from; entry < to.count; entry++) {
        int at = hash(to.owner[entry], to.stack[entry], to.spot[entry]) & mask;
        while (table[at] >= 0) {
          at = at + 1 & mask;
        }
        table[at] = entry;
      }
    }

    /** Ends the sums of a mark; those that came to nothing are dropped. */
    void mark(long time, long pass) {
      int kept = from;
      for (int entry = from; entry < to.count; entry++) {
        if (to.open[entry] != 0 || to.base[entry] != 0 || to.samples[entry] != 0) {
          to.owner[kept] = to.owner[entry];
          to.stack[kept] = to.stack[entry];
          to.spot[kept] = to.spot[entry];
          to.open[kept] = to.open[entry];
          to.base[kept] = to.base[entry];
          to.samples[kept++] = to.samples[entry];
        }
      }
      to.count = kept;
      to.mark(time, pass);
      from = kept;
      Arrays.fill(table, -1);
    }

    Chunk chunk() {
      to.merged = true;
      to.trim();
      return to;
    }

    private static int hash(int owner, int stack, int spot) {
      return (int)
          (((owner * 31L + spot) * 0x9E3779B97F4A7C15L ^ stack * 0xC2B2AE3D27D4EB4FL) >>> 29);
    }
  }

  private final Owners owners;
  private final long most;
  private long limit;
  private final int chunkEntries;
  private final List<Reader> readers = new ArrayList<>();
  private List<Chunk> chunks = new ArrayList<>();
  private long first;
  private long startTime;
  private long entries;
  private int compacted = 1;

  /**
   * @param limit bytes; at least a few chunks are always kept
   */
  public ChangeLog(long limit, Owners owners) {
    most = limit;
    this.limit = limit;
    this.owners = owners;
    chunkEntries = (int) Math.max(64, Math.min(16_384, limit / ENTRY_BYTES / 32));
    append();
  }

  public void attach(Reader reader) {
    readers.add(reader);
  }

  public void detach(Reader reader) {
    readers.remove(reader);
  }

  /** Forgets everything; the log begins at {@code time}. There must be no readers. */
  public void clear(long time) {
    first += chunks.size();
    chunks = new ArrayList<>();
    entries = 0;
    compacted = 1;
    startTime = time;
    append();
  }

  /** The log begins at this time; nothing in it may be older. */
  public void startAt(long time) {
    startTime = time;
  }

  /** When the log begins. */
  public long startTime() {
    return startTime;
  }

  /** Entries ever added since the last {@link #clear}. */
  long entries() {
    return entries;
  }

  public long bytes() {
    long bytes = 0;
    for (Chunk c : chunks) {
      bytes += c.bytes();
    }
    return bytes;
  }

  /** Adds the owners and stacks that entries refer to. */
  public void mark(BitSet owners, BitSet stacks) {
    for (Chunk c : chunks) {
      for (int i = 0; i < c.count; i++) {
        owners.set(c.owner[i]);
        if (c.stack[i] >= 0) {
          stacks.set(c.stack[i]);
        }
      }
    }
  }

  /**
   * Makes the log share its memory with what is kept because of it: it takes less when that is more
   * than one and a half times as much as the log may have, and more again when it is less than
   * once.
   *
   * @param kept bytes, about
   */
  public void share(long kept) {
    if (kept > 3 * most / 2) {
      limit = Math.max(most / 8, limit * 3 / 4);
    } else if (kept < most) {
      limit = Math.min(most, limit * 4 / 3 + 1);
    }
  }

  /** A cursor before everything. */
  public Cursor start() {
    Cursor c = new Cursor();
    c.chunk = first;
    return c;
  }

  void opened(int owner, int stack, int state, long at, long pass) {
    add(owner, stack, state, 1, -at, -pass);
  }

  void closed(int owner, int stack, int state, long at, long pass) {
    add(owner, stack, state, -1, at, pass);
  }

  /** Time of an owner in a state; of what samples have to place, {@link Stacks#NOT_SAMPLED}. */
  void placed(int owner, int stack, int state, long nanos) {
    add(owner, stack, Spot.of(state), 0, nanos, 0);
  }

  /**
   * One sample saw a stack.
   *
   * @param cpu {@link Shape#NO_CPU} if it is not known
   * @param nanos what the sample stands for
   */
  void sampled(int owner, int stack, int state, int cpu, long nanos) {
    add(owner, stack, Spot.sampled(state, cpu), 0, nanos, 1);
  }

  private void add(int owner, int stack, int spot, int open, long base, long samples) {
    Chunk c = last();
    if (c.count == c.owner.length) {
      c.mark(UNKNOWN_YET, 0);
      c = append();
    }
    int i = c.count++;
    c.owner[i] = owner;
    c.stack[i] = stack;
    c.spot[i] = (char) spot;
    c.open[i] = open;
    c.base[i] = base;
    c.samples[i] = samples;
    entries++;
  }

  /**
   * Ends what one batch told. Times must not go back.
   *
   * @param pass passes completed
   */
  public void mark(long time, long pass) {
    for (int i = chunks.size() - 2; i >= 0 && endTime(chunks.get(i)) == UNKNOWN_YET; i--) {
      Chunk c = chunks.get(i);
      c.markTime[c.marks - 1] = time;
      c.markPass[c.marks - 1] = pass;
    }
    Chunk c = last();
    c.mark(time, pass);
    if (c.count == c.owner.length || c.marks == chunkEntries) {
      append();
    }
    if (chunks.size() > compacted) {
      compact();
      compacted = chunks.size();
    }
  }

  private Chunk append() {
    Chunk c = new Chunk(chunkEntries);
    chunks.add(c);
    return c;
  }

  private Chunk last() {
    return chunks.get(chunks.size() - 1);
  }

  private Chunk chunk(Cursor cursor) {
    return chunks.get((int) (cursor.chunk - first));
  }

  private static long endTime(Chunk c) {
    return c.markTime[c.marks - 1];
  }

  /**
   * Time of the mark that the cursor stands at; the start of the log if it stands before the first.
   */
  public long time(Cursor cursor) {
    if (cursor.mark > 0) {
      return chunk(cursor).markTime[cursor.mark - 1];
    }
    return cursor.chunk > first ? endTime(chunks.get((int) (cursor.chunk - first) - 1)) : startTime;
  }

  /** Passes completed at the mark that the cursor stands at. */
  long pass(Cursor cursor) {
    if (cursor.mark > 0) {
      return chunk(cursor).markPass[cursor.mark - 1];
    }
    if (cursor.chunk == first) {
      return 0;
    }
    Chunk before = chunks.get((int) (cursor.chunk - first) - 1);
    return before.markPass[before.marks - 1];
  }

  /** Whether there is a mark after the cursor. */
  public boolean more(Cursor cursor) {
    normalize(cursor);
    Chunk c = chunk(cursor);
    return cursor.mark < c.marks && c.markTime[cursor.mark] != UNKNOWN_YET;
  }

  /** Time of the next mark; there must be {@link #more}. */
  public long nextTime(Cursor cursor) {
    return chunk(cursor).markTime[cursor.mark];
  }

  /** Whether what comes next is the one sum of the oldest history, which cannot be parted. */
  boolean atSum(Cursor cursor) {
    return cursor.mark == 0 && chunk(cursor).sum;
  }

  /** The end of a chunk is the start of the next. */
  private void normalize(Cursor cursor) {
    if (cursor.mark == chunk(cursor).marks && cursor.chunk < first + chunks.size() - 1) {
      cursor.chunk++;
      cursor.mark = 0;
    }
  }

  /** Goes to the next mark and delivers what is between; there must be {@link #more}. */
  public void forward(Cursor cursor, Sink sink) {
    Chunk c = chunk(cursor);
    int end = c.markEnd[cursor.mark];
    for (int i = c.begin(cursor.mark); i < end; i++) {
      sink.change(c.owner[i], c.stack[i], c.spot[i], c.base[i], c.open[i], c.samples[i]);
    }
    cursor.mark++;
    normalize(cursor);
  }

  /** Whether {@link #backward} can go to a mark before the cursor. */
  boolean less(Cursor cursor) {
    if (cursor.mark > 0) {
      return !chunk(cursor).sum;
    }
    return cursor.chunk > first && !chunks.get((int) (cursor.chunk - first) - 1).sum;
  }

  /**
   * Goes to the mark before and delivers the negative of what is between; false if there is none,
   * or only the one sum of the oldest history.
   */
  public boolean backward(Cursor cursor, Sink sink) {
    if (!less(cursor)) {
      return false;
    }
    if (cursor.mark == 0) {
      cursor.chunk--;
      cursor.mark = chunk(cursor).marks;
    }
    Chunk c = chunk(cursor);
    int end = c.markEnd[--cursor.mark];
    for (int i = c.begin(cursor.mark); i < end; i++) {
      sink.change(c.owner[i], c.stack[i], c.spot[i], -c.base[i], -c.open[i], -c.samples[i]);
    }
    return true;
  }

  /**
   * Whether a cursor stands where marks go away between {@code from} and the end of chunk {@code
   * to}.
   */
  public boolean within(Cursor cursor, long from, long to) {
    normalize(cursor);
    return cursor.chunk >= from
        && cursor.chunk <= to
        && !(cursor.chunk == from && cursor.mark == 0);
  }

  /** History older than this is only sums; {@link #startTime} if there is none. */
  public long compactedTo() {
    long time = startTime;
    for (Chunk c : chunks) {
      if (!c.merged) {
        break;
      }
      time = endTime(c);
    }
    return time;
  }

  private void compact() {
    while (bytes() > limit && chunks.size() > 3) {
      int merged = 0;
      long mergedBytes = 0;
      while (merged < chunks.size() && chunks.get(merged).merged) {
        mergedBytes += chunks.get(merged++).bytes();
      }
      if (merged >= 2 && (mergedBytes > limit / 4 || merged >= chunks.size() - 2)) {
        join();
      } else if (merged < chunks.size() - 2) {
        bySecond(merged);
      } else {
        return;
      }
    }
  }

  /**
   * One mark a second for those of a chunk, without their CPUs: they would be many more entries.
   */
  private void bySecond(int index) {
    long number = first + index;
    readers.forEach(r -> r.leave(number, number));
    Chunk c = chunks.get(index);
    Merger merger = new Merger();
    for (int m = 0; m < c.marks; m++) {
      addWithoutCpu(merger, number, c, c.begin(m), c.markEnd[m]);
      if (m + 1 == c.marks || c.markTime[m] / SECOND != c.markTime[m + 1] / SECOND) {
        merger.mark(c.markTime[m], c.markPass[m]);
      }
    }
    chunks.set(index, merger.chunk());
  }

  /** One mark for the two oldest chunks. */
  private void join() {
    long from = first;
    long to = first + 1;
    readers.forEach(r -> r.leave(from, to));
    Chunk a = chunks.get(0);
    Chunk b = chunks.get(1);
    Merger merger = new Merger();
    addAll(merger, a, 0, a.count);
    addAll(merger, b, 0, b.count);
    merger.mark(endTime(b), b.markPass[b.marks - 1]);
    Chunk sum = merger.chunk();
    int entriesKept = (int) Math.min(SUM_ENTRIES, limit / 2 / ENTRY_BYTES);
    if (sum.count > entriesKept) {
      // The last mark may stand within a batch, the rest of which is still to come.
      sum = older(sum, b.marks > 1 ? b.markTime[b.marks - 2] : endTime(a));
    }
    if (sum.count > entriesKept) {
      sum = coarse(sum, entriesKept / 2);
    }
    sum.sum = true;
    chunks.set(1, sum);
    chunks.remove(0);
    first++;
    readers.forEach(r -> r.joined(from, to));
  }

  /**
   * Gives what was gone before then to who stands for it. Where an interval is open, its end is
   * still to come.
   */
  private Chunk older(Chunk c, long before) {
    return rekeyed(
        c,
        new Keys() {
          @Override
          public int owner(int entry) {
            return c.open[entry] == 0 ? owners.older(c.owner[entry], before) : c.owner[entry];
          }

          @Override
          public int stack(int entry) {
            return c.stack[entry];
          }
        });
  }

  /**
   * Keeps the {@code most} heaviest entries and those that are not over as they are; of the others
   * the stacks are not told apart any more, and if that is too many still, nor the owners.
   */
  private Chunk coarse(Chunk c, int most) {
    Chunk lessStacks = light(c, most, false);
    return lessStacks.count > 2 * most ? light(lessStacks, most, true) : lessStacks;
  }

  private Chunk light(Chunk c, int most, boolean nobody) {
    if (c.count <= most) {
      return c;
    }
    long[] weights = c.base.clone();
    for (int i = 0; i < weights.length; i++) {
      weights[i] = c.open[i] != 0 ? Long.MAX_VALUE : Math.abs(weights[i]);
    }
    Arrays.sort(weights);
    long least = weights[c.count - most];
    return rekeyed(
        c,
        new Keys() {
          private boolean kept(int entry) {
            // Without the time that is known, samples would have nothing to place.
            return c.open[entry] != 0
                || c.stack[entry] == Stacks.NOT_SAMPLED
                || Math.abs(c.base[entry]) > least;
          }

          @Override
          public int owner(int entry) {
            // The samples of an owner place that owner's time.
            return kept(entry) || !nobody || Spot.isSampled(c.spot[entry])
                ? c.owner[entry]
                : Owners.OLDER;
          }

          @Override
          public int stack(int entry) {
            return kept(entry) ? c.stack[entry] : Stacks.OLDER;
          }
        });
  }

  private Chunk rekeyed(Chunk c, Keys keys) {
    Merger merger = new Merger();
    for (int i = 0; i < c.count; i++) {
      int owner = keys.owner(i);
      int stack = keys.stack(i);
      if (owner != c.owner[i] || stack != c.stack[i]) {
        for (Reader reader : readers) {
          reader.moved(
              first,
              c.owner[i],
              c.stack[i],
              owner,
              stack,
              c.spot[i],
              c.spot[i],
              c.base[i],
              c.open[i],
              c.samples[i]);
        }
      }
      merger.add(owner, stack, c.spot[i], c.open[i], c.base[i], c.samples[i]);
    }
    merger.mark(c.markTime[c.marks - 1], c.markPass[c.marks - 1]);
    return merger.chunk();
  }

  private void addWithoutCpu(Merger merger, long number, Chunk c, int begin, int end) {
    for (int i = begin; i < end; i++) {
      int kind = Spot.kind(c.spot[i]);
      if (kind != c.spot[i]) {
        for (Reader reader : readers) {
          if (reader.tellsCpus()) {
            reader.moved(
                number,
                c.owner[i],
                c.stack[i],
                c.owner[i],
                c.stack[i],
                c.spot[i],
                kind,
                c.base[i],
                c.open[i],
                c.samples[i]);
          }
        }
      }
      merger.add(c.owner[i], c.stack[i], (char) kind, c.open[i], c.base[i], c.samples[i]);
    }
  }

  private static void addAll(Merger merger, Chunk c, int begin, int end) {
    for (int i = begin; i < end; i++) {
      merger.add(c.owner[i], c.stack[i], c.spot[i], c.open[i], c.base[i], c.samples[i]);
    }
  }
}
