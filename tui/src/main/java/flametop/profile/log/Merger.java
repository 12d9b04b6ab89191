package flametop.profile.log;

import flametop.array.LongIndex;

/** Adds entries of one (owner, stack, spot) together, in the order of the first of each. */
final class Merger {
  private static final int SPOT_BITS = 16;

  private final Chunk to = new Chunk(64);

  // Of the mark that goes on: the entry of each key, and a number for each owner with a stack.
  private LongIndex keys = new LongIndex();
  private LongIndex pairs = new LongIndex();
  private int from;

  void add(int owner, int stack, int spot, int open, long base, long samples) {
    long pair = pairs.row((long) owner << 32 | stack & 0xFFFF_FFFFL);
    int entry = from + keys.row(pair << SPOT_BITS | spot);
    if (entry == to.count) {
      to.add(owner, stack, spot, open, base, samples);
    } else {
      to.open[entry] += open;
      to.base[entry] += base;
      to.samples[entry] += samples;
    }
  }

  /** Adds entries of a chunk, from one index to before another. */
  void addAll(Chunk of, int begin, int end) {
    for (int i = begin; i < end; i++) {
      add(of.owner[i], of.stack[i], of.spot[i], of.open[i], of.base[i], of.samples[i]);
    }
  }

  /** Ends the sums of a mark; sums that came to nothing are dropped. */
  void mark(long time, long pass) {
    int end = to.count;
    to.count = from;
    for (int i = from; i < end; i++) {
      if (to.open[i] != 0 || to.base[i] != 0 || to.samples[i] != 0) {
        to.add(to.owner[i], to.stack[i], to.spot[i], to.open[i], to.base[i], to.samples[i]);
      }
    }
    to.mark(time, pass);
    from = to.count;
    keys = new LongIndex();
    pairs = new LongIndex();
  }

  /** All sums. */
  Chunk chunk() {
    to.merged = true;
    to.trim();
    return to;
  }
}
