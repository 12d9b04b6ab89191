package flametop.profile.log;

/** The memory that a {@link ChangeLog} may have, and how its steps part the memory. */
final class HistoryMemory {
  /** Sums of ten seconds are never fewer for lack of memory. */
  static final int LEAST_SUMS = 64;

  /**
   * The history in full has this part of its memory at least: entries are a tenth of what is kept
   * because of them.
   */
  private static final int LEAST_PART = 64;

  /** The memory of sums is this part of the memory of history in full, and comes on top of it. */
  private static final int SUMS_PART = 4;

  /** Of so many parts of the memory of sums, those of sums of a second, and of the one sum. */
  private static final int PARTS = 8;

  private static final int SECONDS_PARTS = 2;
  private static final int ONE_PARTS = 1;

  /** Bytes of a sum, about. */
  private static final int SUM_BYTES = 9;

  /** Most entries of the one sum, as far as no interval is open in them. */
  private static final int SUM_ENTRIES = 1 << 15;

  private final long most;
  private long full;

  /**
   * @param most bytes of the history in full
   */
  HistoryMemory(long most) {
    this.most = most;
    full = most;
  }

  /** Bytes that history in full may take now. */
  long full() {
    return full;
  }

  /** Bytes that sums of seconds may take now. */
  long seconds() {
    return full / SUMS_PART * SECONDS_PARTS / PARTS;
  }

  /** Bytes that all sums may take. */
  long sums() {
    return most / SUMS_PART;
  }

  /** So many sums of each ten seconds of an hour have room. */
  int sumsOfTenSeconds() {
    long bytes = sums() * (PARTS - SECONDS_PARTS - ONE_PARTS) / PARTS;
    long tens = ChangeLog.SUMMED_NANOS / ChangeLog.TEN_SECONDS;
    return (int) Math.max(LEAST_SUMS, bytes / tens / SUM_BYTES);
  }

  /** Most entries of the one sum. */
  int entriesOfTheOneSum() {
    return (int) Math.min(SUM_ENTRIES, sums() * ONE_PARTS / PARTS / SUM_BYTES);
  }

  /**
   * Gives history in full less memory, or more again: see {@link ChangeLog#share}.
   *
   * @param kept bytes of what is kept because of the log, about
   * @return whether sums are to be fewer, too
   */
  boolean share(long kept) {
    if (kept > 3 * most / 2) {
      full = Math.max(most / LEAST_PART, full * 3 / 4);
      return true;
    }
    full = kept < most ? Math.min(most, full * 4 / 3 + 1) : full;
    return false;
  }
}
