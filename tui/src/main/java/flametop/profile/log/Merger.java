package flametop.profile.log;

import flametop.array.LongIndex;
import flametop.profile.tree.Slots;

/** Adds entries of one (owner, stack, spot) together, in the order of the first of each. */
final class Merger {
  private static final int SPOT_BITS = 16;
  private static final int STACK_BITS = Slots.BITS;

  /** The marks behind the sums. */
  final Chunk marks;

  final Entries sums = new Entries(64);

  /** The entries of the mark that goes on, by owner, stack and spot. */
  private final LongIndex keys = new LongIndex();

  private int from;

  /**
   * @param step of the marks, ns
   */
  Merger(long step) {
    marks = new Chunk(step);
  }

  void add(int owner, int stack, int spot, int open, long base, long samples) {
    long pair = (long) owner << STACK_BITS | stack & (1 << STACK_BITS) - 1;
    int entry = from + keys.row(pair << SPOT_BITS | spot);
    if (entry == sums.count) {
      sums.add(owner, stack, spot, open, base, samples);
    } else {
      sums.open[entry] += open;
      sums.base[entry] += base;
      sums.samples[entry] += samples;
    }
  }

  /** Ends the sums of a mark; sums that came to nothing are dropped. */
  void mark(long time, long pass) {
    int end = sums.count;
    sums.count = from;
    for (int i = from; i < end; i++) {
      if (sums.open[i] != 0 || sums.base[i] != 0 || sums.samples[i] != 0) {
        sums.add(
            sums.owner[i],
            sums.stack[i],
            sums.spot[i],
            sums.open[i],
            sums.base[i],
            sums.samples[i]);
      }
    }
    from = sums.count;
    marks.mark(time, pass, from);
    keys.clear();
  }

  /** All sums, packed. */
  Chunk chunk(Packing packing) {
    marks.pack(packing, sums);
    return marks;
  }
}
