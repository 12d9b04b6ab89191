package flametop.profile.log;

import flametop.array.LongIndex;
import flametop.profile.tree.Slots;

/** Adds entries of one (owner, stack, spot) together, in the order of the first of each. */
final class Merger {
  private static final int SPOT_BITS = 16;
  private static final int STACK_BITS = Slots.BITS;

  private final Chunk to = new Chunk(64);

  /** The entries of the mark that goes on, by owner, stack and spot. */
  private final LongIndex keys = new LongIndex();

  private int from;

  void add(int owner, int stack, int spot, int open, long base, long samples) {
    long pair = (long) owner << STACK_BITS | stack & (1 << STACK_BITS) - 1;
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
    keys.clear();
  }

  /** All sums. */
  Chunk chunk() {
    to.merged = true;
    to.trim();
    return to;
  }
}
