package flametop.profile.log;

import java.util.List;

/** The chunks of a {@link ChangeLog} by their steps: the coarsest history stands first. */
final class Steps {
  private final List<Chunk> chunks;

  /**
   * @param chunks of the log, at any time
   */
  Steps(List<Chunk> chunks) {
    this.chunks = chunks;
  }

  /** The first chunk with a step; the number of chunks if there is none. */
  int first(long step) {
    int at = 0;
    while (at < chunks.size() && chunks.get(at).step != step) {
      at++;
    }
    return at;
  }

  /** How many chunks ended by a time; the newest, which goes on, is none of them. */
  int over(long time) {
    int over = 0;
    while (over + 1 < chunks.size() && chunks.get(over).endTime() <= time) {
      over++;
    }
    return over;
  }

  /** The longest step between two times, ns. */
  long longest(long startTime, long from, long to) {
    long longest = ChangeLog.FULL;
    long begin = startTime;
    for (Chunk c : chunks) {
      if (c.step == ChangeLog.FULL || begin >= to) {
        break;
      }
      if (c.endTime() > from) {
        longest = Math.max(longest, c.step);
      }
      begin = c.endTime();
    }
    return longest;
  }

  /** Bytes of the chunks with a step. */
  long bytes(long step) {
    return chunks.stream().filter(c -> c.step == step).mapToLong(Chunk::bytes).sum();
  }

  /** Bytes of all sums. */
  long sums() {
    return bytes(ChangeLog.SECOND) + bytes(ChangeLog.TEN_SECONDS) + bytes(ChangeLog.ALL);
  }
}
