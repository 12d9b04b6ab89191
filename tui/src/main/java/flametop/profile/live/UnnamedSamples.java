package flametop.profile.live;

import flametop.array.IntColumn;
import java.util.BitSet;
import java.util.function.IntPredicate;

/**
 * Samples whose stacks have frames without a name yet: the rows of process and runtime, and the
 * stack. Of very many samples the newest are left out.
 */
final class UnnamedSamples {
  private static final int MOST = 1 << 16;

  /** Takes one sample. */
  interface Taker {
    void take(int row, int runtime, int stack);
  }

  private final IntColumn rows = new IntColumn();
  private final IntColumn runtimes = new IntColumn();
  private final IntColumn stacks = new IntColumn();

  void add(int row, int runtime, int stack) {
    if (rows.size < MOST) {
      rows.add(row);
      runtimes.add(runtime);
      stacks.add(stack);
    }
  }

  /** Gives away the samples whose stacks are named now. */
  void take(IntPredicate named, Taker taker) {
    int kept = 0;
    for (int i = 0; i < rows.size; i++) {
      int stack = stacks.items[i];
      if (named.test(stack)) {
        taker.take(rows.items[i], runtimes.items[i], stack);
      } else {
        rows.items[kept] = rows.items[i];
        runtimes.items[kept] = runtimes.items[i];
        stacks.items[kept++] = stack;
      }
    }
    rows.size = kept;
    runtimes.size = kept;
    stacks.size = kept;
  }

  /** Forgets the samples of all stacks but these. */
  void keep(BitSet kept) {
    take(stack -> !kept.get(stack), (row, runtime, stack) -> {});
  }

  /** The rows of processes have other numbers now. */
  void renumber(int[] to) {
    for (int i = 0; i < rows.size; i++) {
      rows.items[i] = to[rows.items[i]];
    }
  }
}
