package flametop.profile.log;

import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;

/**
 * Makes sums of entries, and fewer of them, and tells the readers of the {@link ChangeLog} what
 * belongs to another owner, stack or spot by that. Nothing is lost, but told apart less.
 */
final class Summing {
  /** All sums are kept. */
  static final int ALL = Integer.MAX_VALUE;

  private final Owners owners;
  private final List<ChangeLog.Reader> readers;

  Summing(Owners owners, List<ChangeLog.Reader> readers) {
    this.owners = owners;
    this.readers = readers;
  }

  /**
   * Makes sums fewer where a mark has more than {@code most}: what is gone then belongs to who
   * stands for it; if that is not enough, the {@code kept} heaviest entries and those that are not
   * over stay as they are, and of the others the stacks are not told apart any more, nor, if need
   * be, the owners.
   */
  Merger fewer(Merger of, int from, long before, int most, int kept) {
    if (!isOver(of, most)) {
      return of;
    }
    Entries its = of.sums;
    Merger older =
        rekeyed(
            of,
            from,
            i -> its.open[i] == 0 ? owners.older(its.owner[i], before) : its.owner[i],
            i -> its.stack[i]);
    return isOver(older, most) ? light(light(older, from, kept, false), from, kept, true) : older;
  }

  /** Tells apart only what is not over; all the rest is of nobody that is known. */
  Merger forgotten(Merger of, int from) {
    Entries its = of.sums;
    return rekeyed(
        of,
        from,
        i -> its.open[i] == 0 ? Owners.OLDER : its.owner[i],
        i -> its.open[i] == 0 ? Stacks.OLDER : its.stack[i]);
  }

  private static boolean isOver(Merger of, int most) {
    Chunk marks = of.marks;
    return IntStream.range(0, marks.marks).anyMatch(m -> marks.markEnd[m] - marks.begin(m) > most);
  }

  private Merger light(Merger of, int from, int most, boolean nobody) {
    long[] least = new long[of.marks.marks];
    boolean any = false;
    for (int m = 0; m < least.length; m++) {
      least[m] = leastKept(of, m, most, nobody ? (int) Math.min(2L * most, ALL) : most);
      any |= least[m] >= 0;
    }
    if (!any) {
      return of;
    }
    Chunk marks = of.marks;
    Entries its = of.sums;
    // Without the time that is known, samples would have nothing to place.
    IntPredicate kept =
        i ->
            its.open[i] != 0
                || its.stack[i] == Stacks.NOT_SAMPLED
                || Math.abs(its.base[i]) > least[marks.markOf(i)];
    // The samples of an owner place that owner's time.
    return rekeyed(
        of,
        from,
        i -> kept.test(i) || !nobody || Spot.isSampled(its.spot[i]) ? its.owner[i] : Owners.OLDER,
        i -> kept.test(i) ? its.stack[i] : Stacks.OLDER);
  }

  /** The weight above which a mark keeps its entries; -1 if it keeps all, as it has few. */
  private static long leastKept(Merger of, int mark, int most, int few) {
    int begin = of.marks.begin(mark);
    int count = of.marks.markEnd[mark] - begin;
    if (count <= few) {
      return -1;
    }
    Entries its = of.sums;
    long[] weights = new long[count];
    for (int i = 0; i < count; i++) {
      boolean over = its.open[begin + i] == 0;
      weights[i] = over ? Math.abs(its.base[begin + i]) : Long.MAX_VALUE;
    }
    Arrays.sort(weights);
    return weights[count - most];
  }

  /** The same marks; each entry with the owner and the stack that it gets. */
  private Merger rekeyed(Merger of, int from, IntUnaryOperator toOwner, IntUnaryOperator toStack) {
    Merger merger = new Merger(of.marks.step);
    Entries its = of.sums;
    Chunk marks = of.marks;
    for (int m = 0; m < marks.marks; m++) {
      for (int i = marks.begin(m); i < marks.markEnd[m]; i++) {
        int owner = toOwner.applyAsInt(i);
        int stack = toStack.applyAsInt(i);
        if (owner != its.owner[i] || stack != its.stack[i]) {
          for (ChangeLog.Reader reader : readers) {
            moved(reader, from, its, i, owner, stack, its.spot[i]);
          }
        }
        merger.add(owner, stack, its.spot[i], its.open[i], its.base[i], its.samples[i]);
      }
      merger.mark(marks.markTime[m], marks.markPass[m]);
    }
    return merger;
  }

  /**
   * Adds entries to sums. Sums have no CPUs: with them there would be many more.
   *
   * @param from the chunk of which readers are told
   */
  void add(Merger merger, int from, Entries its, int begin, int end) {
    for (int i = begin; i < end; i++) {
      int kind = Spot.kind(its.spot[i]);
      for (ChangeLog.Reader reader : readers) {
        if (kind != its.spot[i] && reader.tellsCpus()) {
          moved(reader, from, its, i, its.owner[i], its.stack[i], kind);
        }
      }
      merger.add(its.owner[i], its.stack[i], kind, its.open[i], its.base[i], its.samples[i]);
    }
  }

  private static void moved(
      ChangeLog.Reader reader, int from, Entries its, int i, int toOwner, int toStack, int toSpot) {
    long base = its.base[i];
    int open = its.open[i];
    long samples = its.samples[i];
    reader.moved(from, its.owner[i], its.stack[i], its.spot[i], -base, -open, -samples);
    reader.moved(from, toOwner, toStack, toSpot, base, open, samples);
  }
}
