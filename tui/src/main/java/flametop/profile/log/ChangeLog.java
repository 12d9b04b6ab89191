package flametop.profile.log;

import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;

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

  /** Time of a mark within a batch, until its end is known: a batch is never taken apart. */
  private static final long UNKNOWN_YET = Long.MAX_VALUE;

  private static final long SECOND = 1_000_000_000L;

  /** Most entries of the sum, as far as no interval is open in them. */
  private static final int SUM_ENTRIES = 1 << 15;

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
    chunkEntries = (int) Math.max(64, Math.min(16_384, limit / Chunk.ENTRY_BYTES / 32));
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
   * Makes the log share its memory with the things that are kept because of the log: the log takes
   * less memory when these things take more than one and a half times as much as the log may have,
   * and more again when they take less than once as much.
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

  /**
   * Time of an owner in a state; {@code stack} is {@link Stacks#NOT_SAMPLED} if samples are to
   * place the time.
   */
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
    if (c.isFull()) {
      c.mark(UNKNOWN_YET, 0);
      c = append();
    }
    c.add(owner, stack, spot, open, base, samples);
    entries++;
  }

  /**
   * Ends what one batch told. Times must not go back.
   *
   * @param pass passes completed
   */
  public void mark(long time, long pass) {
    for (int i = chunks.size() - 2; i >= 0 && chunks.get(i).endTime() == UNKNOWN_YET; i--) {
      Chunk c = chunks.get(i);
      c.markTime[c.marks - 1] = time;
      c.markPass[c.marks - 1] = pass;
    }
    Chunk c = last();
    c.mark(time, pass);
    if (c.isFull() || c.marks == chunkEntries) {
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

  /** The chunk before the chunk of a cursor. */
  private Chunk before(Cursor cursor) {
    return chunks.get((int) (cursor.chunk - first) - 1);
  }

  /**
   * Time of the mark that the cursor stands at; the start of the log if it stands before the first.
   */
  public long time(Cursor cursor) {
    if (cursor.mark > 0) {
      return chunk(cursor).markTime[cursor.mark - 1];
    }
    return cursor.chunk > first ? before(cursor).endTime() : startTime;
  }

  /** Passes completed at the mark that the cursor stands at. */
  long pass(Cursor cursor) {
    if (cursor.mark > 0) {
      return chunk(cursor).markPass[cursor.mark - 1];
    }
    return cursor.chunk > first ? before(cursor).endPass() : 0;
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
    c.deliver(c.begin(cursor.mark), c.markEnd[cursor.mark], 1, sink);
    cursor.mark++;
    normalize(cursor);
  }

  /** Whether {@link #backward} can go to a mark before the cursor. */
  boolean less(Cursor cursor) {
    if (cursor.mark > 0) {
      return !chunk(cursor).sum;
    }
    return cursor.chunk > first && !before(cursor).sum;
  }

  /**
   * Goes to the mark before, and delivers the negative of the entries between. Returns false if
   * there is no mark, or only the one sum of the oldest history.
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
    cursor.mark--;
    c.deliver(c.begin(cursor.mark), c.markEnd[cursor.mark], -1, sink);
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
      time = c.endTime();
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
   * Keeps one mark a second of a chunk, without CPUs: with CPUs there would be many more entries.
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
    merger.addAll(a, 0, a.count);
    merger.addAll(b, 0, b.count);
    merger.mark(b.endTime(), b.endPass());
    Chunk sum = merger.chunk();
    int entriesKept = (int) Math.min(SUM_ENTRIES, limit / 2 / Chunk.ENTRY_BYTES);
    if (sum.count > entriesKept) {
      // The last mark may stand within a batch, the rest of which is still to come.
      sum = older(sum, b.marks > 1 ? b.markTime[b.marks - 2] : a.endTime());
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
        entry -> c.open[entry] == 0 ? owners.older(c.owner[entry], before) : c.owner[entry],
        entry -> c.stack[entry]);
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
    // Without the time that is known, samples would have nothing to place.
    IntPredicate kept =
        entry ->
            c.open[entry] != 0
                || c.stack[entry] == Stacks.NOT_SAMPLED
                || Math.abs(c.base[entry]) > least;
    // The samples of an owner place that owner's time.
    return rekeyed(
        c,
        entry ->
            kept.test(entry) || !nobody || Spot.isSampled(c.spot[entry])
                ? c.owner[entry]
                : Owners.OLDER,
        entry -> kept.test(entry) ? c.stack[entry] : Stacks.OLDER);
  }

  /** The entries of the oldest chunk, each with the owner and the stack that it gets. */
  private Chunk rekeyed(Chunk c, IntUnaryOperator toOwner, IntUnaryOperator toStack) {
    Merger merger = new Merger();
    for (int i = 0; i < c.count; i++) {
      int owner = toOwner.applyAsInt(i);
      int stack = toStack.applyAsInt(i);
      if (owner != c.owner[i] || stack != c.stack[i]) {
        for (Reader reader : readers) {
          moved(reader, first, c, i, owner, stack, c.spot[i]);
        }
      }
      merger.add(owner, stack, c.spot[i], c.open[i], c.base[i], c.samples[i]);
    }
    merger.mark(c.endTime(), c.endPass());
    return merger.chunk();
  }

  private void addWithoutCpu(Merger merger, long number, Chunk c, int begin, int end) {
    for (int i = begin; i < end; i++) {
      int kind = Spot.kind(c.spot[i]);
      for (Reader reader : readers) {
        if (kind != c.spot[i] && reader.tellsCpus()) {
          moved(reader, number, c, i, c.owner[i], c.stack[i], kind);
        }
      }
      merger.add(c.owner[i], c.stack[i], kind, c.open[i], c.base[i], c.samples[i]);
    }
  }

  private static void moved(
      Reader reader, long number, Chunk c, int i, int toOwner, int toStack, int toSpot) {
    reader.moved(
        number,
        c.owner[i],
        c.stack[i],
        toOwner,
        toStack,
        c.spot[i],
        toSpot,
        c.base[i],
        c.open[i],
        c.samples[i]);
  }
}
