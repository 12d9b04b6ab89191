package flametop.profile.log;

import flametop.profile.answer.Shape;
import java.util.ArrayList;
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
 * <p>Entries stand in chunks. A chunk has marks, each with a time, and cursors stand at marks only.
 * A batch is taken apart only between samples of the CPU clock, and only for readers that ask for
 * it; how long stays went on is known at the {@linkplain #told end of a batch}. All chunks but the
 * newest are {@linkplain Packing packed}. History is the coarser the older it is: in full, then one
 * mark a second, then one mark in ten seconds, and what is older than an hour is one sum. A chunk
 * goes on to the next of these when the memory of its own is used up.
 *
 * <p>A reader that never goes back has the past {@linkplain #forget forgotten}.
 *
 * <p>Ten seconds with too many sums give the lightest stacks up, and the one sum gives what is gone
 * to who {@link Owners#older stands for it} before: so nothing is lost, but told apart less.
 */
public final class ChangeLog {
  /** Takes entries. */
  public interface Sink {
    void change(int owner, int stack, int spot, long base, int open, long samples);
  }

  /** Stands at a mark of the log. Needs to know when marks go away. */
  public interface Reader {
    /** The marks within {@code [from, end of chunk to)} go away, those at its two ends stay. */
    void leave(int from, int to);

    /**
     * Behind the beginning of chunk {@code from} there is this change more. So what belongs to
     * another owner, stack or spot from now on is told of twice, first with its negative. No cursor
     * stands within the chunks that this is about.
     */
    void moved(int from, int owner, int stack, int spot, long base, int open, long samples);

    /** Whether it tells CPUs apart. */
    boolean tellsCpus();

    /** The chunks from {@code from} to {@code to} became one: {@link Cursor#joined}. */
    void joined(int from, int to);
  }

  /** Place in the log: after the first {@code mark} marks of a chunk. */
  public static final class Cursor {
    int chunk;
    int mark;

    public void set(Cursor other) {
      chunk = other.chunk;
      mark = other.mark;
    }

    /** Whether it is behind the first mark of a chunk. */
    boolean isPast(int of) {
      return chunk > of || chunk == of && mark > 0;
    }

    public boolean before(Cursor other) {
      return chunk < other.chunk || chunk == other.chunk && mark < other.mark;
    }

    /** The chunks from {@code from} to {@code to}, within which it does not stand, became one. */
    public void joined(int from, int to) {
      chunk -= chunk > to ? to - from : 0;
    }
  }

  /** The step of history that is kept in full. */
  public static final long FULL = 0;

  static final long SECOND = 1_000_000_000L;
  static final long TEN_SECONDS = 10 * SECOND;

  /** The step of the one sum of the oldest history. */
  public static final long ALL = Long.MAX_VALUE;

  /** As long ago history has sums at least, if the memory is not too small for that. */
  static final long SUMMED_NANOS = 3_600 * SECOND;

  /** So much becomes one chunk of sums of seconds, or of ten seconds. */
  private static final long SECONDS_RUN = 10 * SECOND;

  private static final long TENS_RUN = 60 * SECOND;

  private static final int RUN_ENTRIES = 1 << 16;

  /** Time of a mark within a batch, until its end is known: a batch is never taken apart. */
  private static final long UNKNOWN_YET = Long.MAX_VALUE;

  private final HistoryMemory memory;
  private final int chunkEntries;
  private final List<Reader> readers = new ArrayList<>();
  private final List<Chunk> chunks = new ArrayList<>();
  private final Steps steps = new Steps(chunks);
  private final Packing packing = new Packing();
  private final Summing summing;

  /** The entries of the newest chunk. */
  private final Entries newest;

  private final UnpackedChunks unpacked;

  private long startTime;
  private long entries;
  private int compacted = 1;

  /** Most sums that ten seconds keep, as far as no interval is open in them. */
  private int tenSums = Summing.ALL;

  /**
   * @param limit bytes of the history in full; at least a few chunks are always kept
   */
  public ChangeLog(long limit, Owners owners) {
    memory = new HistoryMemory(limit);
    summing = new Summing(owners, readers);
    chunkEntries = (int) Math.max(64, Math.min(4_096, limit / Entries.BYTES / 32));
    newest = new Entries(chunkEntries);
    unpacked = new UnpackedChunks(packing, chunkEntries);
    chunks.add(new Chunk(FULL));
  }

  public void attach(Reader reader) {
    readers.add(reader);
  }

  public void detach(Reader reader) {
    readers.remove(reader);
  }

  /** The log begins at this time; nothing in it may be older. */
  public void startAt(long time) {
    startTime = time;
  }

  /** When the log begins. */
  public long startTime() {
    return startTime;
  }

  /** Entries ever added. */
  long entries() {
    return entries;
  }

  public long bytes() {
    return newest.bytes() + chunks.stream().mapToLong(Chunk::bytes).sum();
  }

  /** Bytes that history in full may take now. */
  public long limit() {
    return memory.full();
  }

  /** Adds the owners and stacks that entries refer to. */
  public void mark(BitSet owners, BitSet stacks) {
    for (Chunk c : chunks) {
      if (c.isPacked()) {
        packing.mark(c.packed, owners, stacks);
      }
    }
    for (int i = 0; i < newest.count; i++) {
      owners.set(newest.owner[i]);
      Stacks.keep(newest.stack[i], stacks);
    }
  }

  /**
   * Makes the log share its memory with the things that are kept because of the log: the log takes
   * less memory, and tells fewer stacks apart in its sums, when these things take more than one and
   * a half times as much as the log may have; and more again when they take less than once as much.
   *
   * @param kept bytes, about
   */
  public void share(long kept) {
    if (memory.share(kept)) {
      fewerTens(Math.min(tenSums, memory.sumsOfTenSeconds()) / 2);
    }
  }

  /** Ten seconds keep so many sums at most, those that there are too. */
  private void fewerTens(int sums) {
    int before = tenSums;
    tenSums = Math.max(HistoryMemory.LEAST_SUMS, sums);
    for (int i = 0; tenSums < before && i < chunks.size(); i++) {
      if (chunks.get(i).step == TEN_SECONDS) {
        merge(i, i, TEN_SECONDS);
      }
    }
  }

  /** A cursor before everything. */
  public Cursor start() {
    return new Cursor();
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
    if (newest.count == chunkEntries) {
      last().mark(UNKNOWN_YET, 0, newest.count);
      append();
    }
    newest.add(owner, stack, spot, open, base, samples);
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
    c.mark(time, pass, newest.count);
    if (newest.count == chunkEntries || c.marks == chunkEntries) {
      append();
    }
    if (chunks.size() > compacted) {
      compact(time);
      compacted = chunks.size();
    }
  }

  /** Ends what the CPU clock told up to a time, within a batch; not where a mark is as late. */
  public void within(long time) {
    Chunk c = last();
    int chunk = chunks.size() - 1;
    if (time > time(chunk, c.marks) && c.marks < chunkEntries - 1) {
      c.markWithin(time, pass(chunk, c.marks), newest.count);
    }
  }

  private void append() {
    last().pack(packing, newest);
    newest.clear(0);
    chunks.add(new Chunk(FULL));
  }

  private Chunk last() {
    return chunks.get(chunks.size() - 1);
  }

  private Chunk chunk(Cursor cursor) {
    return chunks.get(cursor.chunk);
  }

  /** The entries of a chunk; good until those of others are asked for. */
  private Entries entries(Chunk c) {
    return c.isPacked() ? unpacked.entries(c) : newest;
  }

  /**
   * Time of the mark that the cursor stands at; the start of the log if it stands before the first.
   */
  public long time(Cursor cursor) {
    return time(cursor.chunk, cursor.mark);
  }

  private long time(int chunk, int mark) {
    if (mark > 0) {
      return chunks.get(chunk).markTime[mark - 1];
    }
    return chunk > 0 ? chunks.get(chunk - 1).endTime() : startTime;
  }

  /** Passes completed at the mark that the cursor stands at. */
  long pass(Cursor cursor) {
    return pass(cursor.chunk, cursor.mark);
  }

  private long pass(int chunk, int mark) {
    if (mark > 0) {
      return chunks.get(chunk).markPass[mark - 1];
    }
    return chunk > 0 ? chunks.get(chunk - 1).endPass() : 0;
  }

  /** The time up to which stays are told at the cursor: that of the last mark that ends a batch. */
  public long told(Cursor cursor) {
    // A chunk never ends within a batch.
    return time(cursor.chunk, chunk(cursor).wholeAt(cursor.mark - 1) + 1);
  }

  /** Whether the cursor stands within a batch. */
  boolean isWithin(Cursor cursor) {
    return cursor.mark > 0 && chunk(cursor).isWithin(cursor.mark - 1);
  }

  /** Time of the next mark that ends a batch; there must be {@link #more}. */
  long nextWhole(Cursor cursor) {
    Chunk c = chunk(cursor);
    int whole = c.wholeFrom(cursor.mark);
    return whole < c.marks ? c.markTime[whole] : UNKNOWN_YET;
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

  /** The step of the next mark, ns; there must be {@link #more}. */
  long nextStep(Cursor cursor) {
    return chunk(cursor).step;
  }

  /** When the time begins of which the next mark is the end; there must be {@link #more}. */
  long nextBegin(Cursor cursor) {
    return begin(time(cursor), nextTime(cursor), nextStep(cursor));
  }

  private static long begin(long before, long end, long step) {
    return step == FULL || step == ALL ? before : Math.max(before, end / step * step);
  }

  /** Whether there is a mark before the cursor. */
  boolean less(Cursor cursor) {
    return cursor.mark > 0 || cursor.chunk > 0;
  }

  /** The step of the mark that the cursor stands at, ns; there must be {@link #less}. */
  long step(Cursor cursor) {
    return cursor.mark > 0 ? chunk(cursor).step : chunks.get(cursor.chunk - 1).step;
  }

  /** Whether only the one sum of the oldest history is before the cursor, or nothing. */
  public boolean isAfterAll(Cursor cursor) {
    return !less(cursor) || step(cursor) == ALL;
  }

  /**
   * When the time begins of which the mark is the end that the cursor stands at; there must be
   * {@link #less}.
   */
  long begin(Cursor cursor) {
    int at = cursor.mark > 0 ? cursor.chunk : cursor.chunk - 1;
    Chunk c = chunks.get(at);
    int mark = cursor.mark > 0 ? cursor.mark - 1 : c.marks - 1;
    return begin(time(at, mark), c.markTime[mark], c.step);
  }

  /** The end of a chunk is the start of the next. */
  private void normalize(Cursor cursor) {
    if (cursor.mark == chunk(cursor).marks && cursor.chunk < chunks.size() - 1) {
      cursor.chunk++;
      cursor.mark = 0;
    }
  }

  /** Goes to the next mark and delivers what is between; there must be {@link #more}. */
  public void forward(Cursor cursor, Sink sink) {
    Chunk c = chunk(cursor);
    entries(c).deliver(c.begin(cursor.mark), c.markEnd[cursor.mark], 1, sink);
    cursor.mark++;
    normalize(cursor);
  }

  /**
   * Goes to the mark before, and delivers the negative of the entries between. Returns false if
   * there is no mark.
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
    entries(c).deliver(c.begin(cursor.mark), c.markEnd[cursor.mark], -1, sink);
    return true;
  }

  /**
   * Whether a cursor stands where marks go away between {@code from} and the end of chunk {@code
   * to}.
   */
  public boolean within(Cursor cursor, int from, int to) {
    normalize(cursor);
    return cursor.chunk >= from
        && cursor.chunk <= to
        && !(cursor.chunk == from && cursor.mark == 0);
  }

  /** History older than this is only sums; {@link #startTime} if there is none. */
  public long compactedTo() {
    return time(steps.first(FULL), 0);
  }

  /** History older than this is only one sum; {@link #startTime} if there is none. */
  public long summedTo() {
    return chunks.get(0).step == ALL ? chunks.get(0).endTime() : startTime;
  }

  /** The first mark at or after a time; the time itself if that is none of history in full. */
  public long markFrom(long time) {
    int at = time > compactedTo() ? steps.first(FULL) : chunks.size();
    for (Chunk c : chunks.subList(at, chunks.size())) {
      for (int m = 0; m < c.marks; m++) {
        if (c.markTime[m] >= time && c.markTime[m] != UNKNOWN_YET) {
          return c.markTime[m];
        }
      }
    }
    return time;
  }

  /** The longest step between two times, ns. */
  public long step(long from, long to) {
    return steps.longest(startTime, from, to);
  }

  /**
   * Forgets what was before a time, as far as that fills chunks: what is over becomes one sum of
   * nobody that is known. For a log whose readers stand at that time, or behind, and never go back.
   */
  public void forget(long time) {
    int over = steps.over(time);
    if (over > 0) {
      merge(0, over - 1, ALL, true);
      compacted = chunks.size();
    }
  }

  private void compact(long now) {
    // The newest chunks stay: what comes next belongs to their last mark.
    while (steps.bytes(FULL) + newest.bytes() > memory.full()
        && steps.first(FULL) < chunks.size() - 3) {
      sumUp(steps.first(FULL), chunks.size() - 4, SECONDS_RUN, SECOND);
    }
    while (steps.bytes(SECOND) > memory.seconds()) {
      sumUp(steps.first(SECOND), steps.first(FULL) - 1, TENS_RUN, TEN_SECONDS);
    }
    int ten = steps.first(TEN_SECONDS);
    while (ten < chunks.size() && chunks.get(ten).endTime() < now - SUMMED_NANOS - TENS_RUN) {
      merge(0, ten, ALL);
      ten = steps.first(TEN_SECONDS);
    }
    if (steps.sums() > memory.sums() && tenSums > memory.sumsOfTenSeconds()) {
      fewerTens(memory.sumsOfTenSeconds());
    } else if (steps.sums() < memory.sums() / 2) {
      tenSums = Summing.ALL;
    }
    while (steps.sums() > memory.sums() && ten < chunks.size()) {
      merge(0, ten, ALL);
      ten = steps.first(TEN_SECONDS);
    }
  }

  /** Makes one chunk of the chunks from one on, as many as are {@code nanos} long. */
  private void sumUp(int from, int last, long nanos, long step) {
    long begin = time(from, 0);
    int to = from;
    int count = chunks.get(from).count;
    while (to < last
        && chunks.get(to).endTime() - begin < nanos
        && count + chunks.get(to + 1).count <= RUN_ENTRIES) {
      count += chunks.get(++to).count;
    }
    merge(from, to, step);
  }

  private void merge(int from, int to, long step) {
    merge(from, to, step, false);
  }

  /**
   * Makes one chunk of those from one to another, with a mark for each step.
   *
   * @param forgets whether what is over is not told apart any more
   */
  private void merge(int from, int to, long step, boolean forgets) {
    readers.forEach(r -> r.leave(from, to));
    Merger merger = new Merger(step);
    for (int i = from; i <= to; i++) {
      Chunk c = chunks.get(i);
      Entries its = entries(c);
      for (int m = 0; m < c.marks; m++) {
        summing.add(merger, from, its, c.begin(m), c.markEnd[m]);
        boolean isLast = i == to && m + 1 == c.marks;
        boolean ends =
            !c.isWithin(m) && step != ALL && c.markTime[m] / step != nextWhole(i, m) / step;
        if (isLast || ends) {
          merger.mark(c.markTime[m], c.markPass[m]);
        }
      }
    }
    if (forgets) {
      merger = summing.forgotten(merger, from);
    } else if (step == ALL) {
      int most = memory.entriesOfTheOneSum();
      merger = summing.fewer(merger, from, before(chunks.get(to)), most, most / 2);
    } else if (step == TEN_SECONDS) {
      merger = summing.fewer(merger, from, before(chunks.get(to)), tenSums, tenSums);
    }
    Chunk sums = merger.chunk(packing);
    for (int i = from; i <= to; i++) {
      unpacked.forget(chunks.get(i));
    }
    chunks.set(from, sums);
    chunks.subList(from + 1, to + 1).clear();
    readers.forEach(r -> r.joined(from, to));
  }

  /**
   * The time before which a chunk told all: its last mark may stand within a batch, the rest of
   * which is still to come.
   */
  private long before(Chunk last) {
    return last.marks > 1 ? last.markTime[last.marks - 2] : startTime;
  }

  /** Time of the mark after a mark of a chunk that ends a batch. */
  private long nextWhole(int index, int mark) {
    Chunk c = chunks.get(index);
    int whole = c.wholeFrom(mark + 1);
    Chunk next = whole < c.marks ? c : chunks.get(index + 1);
    return next.markTime[whole < c.marks ? whole : next.wholeFrom(0)];
  }
}
