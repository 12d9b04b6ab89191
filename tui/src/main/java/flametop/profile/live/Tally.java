package flametop.profile.live;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.QualityReport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Counts how samples ended, by row: since the start, and by steps of the last minutes. When there
 * are too many rows, the rows that were not counted for longest become one.
 */
final class Tally {
  /** The row that sums up dropped rows. */
  static final int GONE = 0;

  static final int STEPS = 60;

  private static final int MOST_ROWS = 8_192;

  private static final int OUTCOME_BITS =
      Integer.SIZE - Integer.numberOfLeadingZeros(QualityReport.OUTCOMES - 1);

  /** Counts of one step, by row and outcome. */
  private static final class Counts {
    final LongIndex keys = new LongIndex();
    final IntColumn counts = new IntColumn();

    void add(long key, int count) {
      int at = keys.row(key);
      counts.set(at, counts.get(at) + count);
    }

    int row(int at) {
      return (int) (keys.key(at) >> OUTCOME_BITS);
    }

    int outcome(int at) {
      return (int) keys.key(at) & (1 << OUTCOME_BITS) - 1;
    }

    static long key(int row, int outcome) {
      return (long) row << OUTCOME_BITS | outcome;
    }
  }

  private record Row(int pid, String name, long[] all) {}

  private final List<Row> rows = new ArrayList<>();

  /** By row: the step in which it was counted last. */
  private LongColumn lastStep = new LongColumn();

  private final @Nullable Counts[] steps = new Counts[STEPS];
  private long step = -1;
  private long firstStep = -1;

  Tally(String gone) {
    row(0, gone);
  }

  /** A copy of the counts as they are now. */
  Tally(Tally from) {
    from.rows.forEach(row -> rows.add(new Row(row.pid, row.name, row.all.clone())));
    lastStep = from.lastStep.copy();
    Arrays.setAll(steps, i -> moved(from.steps[i], row -> row));
    step = from.step;
    firstStep = from.firstStep;
  }

  /** The counts in another numbering of rows. */
  private static @Nullable Counts moved(@Nullable Counts of, IntUnaryOperator row) {
    if (of == null) {
      return null;
    }
    Counts sum = new Counts();
    for (int i = 0; i < of.counts.size; i++) {
      sum.add(Counts.key(row.applyAsInt(of.row(i)), of.outcome(i)), of.counts.items[i]);
    }
    return sum;
  }

  /** A new row. */
  int row(int pid, String name) {
    lastStep.add(step);
    rows.add(new Row(pid, name, new long[QualityReport.OUTCOMES]));
    return rows.size() - 1;
  }

  /** Whether there are so many rows that {@link #compact} is due. */
  boolean full() {
    return rows.size() > MOST_ROWS;
  }

  /**
   * Sums up the half of the rows that was not counted for longest, and all rows without a count in
   * the last steps. So each new row costs the same.
   *
   * @return the new number of each row
   */
  int[] compact() {
    int[] to = new int[rows.size()];
    List<Row> old = new ArrayList<>(rows);
    LongColumn oldSteps = lastStep;
    BitSet kept = new BitSet();
    IntStream.range(1, old.size())
        .filter(i -> oldSteps.get(i) > step - STEPS)
        .boxed()
        .sorted(Comparator.comparingLong((Integer i) -> oldSteps.get(i)).reversed())
        .limit(MOST_ROWS / 2)
        .forEach(kept::set);
    rows.clear();
    lastStep = new LongColumn();
    for (int i = 0; i < old.size(); i++) {
      if (i != GONE && !kept.get(i)) {
        to[i] = GONE;
        add(old.get(i).all, rows.get(GONE).all);
      } else {
        to[i] = rows.size();
        lastStep.add(oldSteps.get(i));
        rows.add(old.get(i));
      }
    }
    Arrays.setAll(steps, i -> moved(steps[i], row -> to[row]));
    return to;
  }

  /** Goes on to a step, and forgets all but the last {@link #STEPS}. */
  void begin(long next) {
    if (next <= step) {
      return;
    }
    if (step < 0) {
      firstStep = next;
    }
    for (long s = Math.max(step + 1, next - STEPS + 1); s <= next; s++) {
      steps[(int) (s % STEPS)] = null;
    }
    step = next;
  }

  void add(int row, int outcome) {
    int at = (int) (step % STEPS);
    Counts counts = steps[at];
    if (counts == null) {
      counts = new Counts();
      steps[at] = counts;
    }
    counts.add(Counts.key(row, outcome), 1);
    rows.get(row).all[outcome]++;
    lastStep.set(row, step);
  }

  /**
   * The rows with a count, in the order they came.
   *
   * @param count of steps, with the current step; {@link Integer#MAX_VALUE}: all since the start
   */
  List<QualityReport.Row> report(int count) {
    long[][] sums = new long[rows.size()][];
    if (count == Integer.MAX_VALUE) {
      Arrays.setAll(sums, i -> rows.get(i).all.clone());
    } else {
      long first = Math.max(firstStep, step - Math.min(count, STEPS) + 1);
      for (long s = Math.max(0, first); s <= step; s++) {
        add(steps[(int) (s % STEPS)], sums);
      }
    }
    List<QualityReport.Row> found = new ArrayList<>();
    for (int i = 0; i < sums.length; i++) {
      if (sums[i] != null) {
        QualityReport.Counts counts = new QualityReport.Counts(sums[i]);
        if (counts.samples() > 0) {
          found.add(new QualityReport.Row(rows.get(i).pid, rows.get(i).name, counts));
        }
      }
    }
    return List.copyOf(found);
  }

  /** Adds counts by outcome. */
  static void add(long[] more, long[] to) {
    for (int i = 0; i < to.length; i++) {
      to[i] += more[i];
    }
  }

  private static void add(@Nullable Counts counts, long[] @Nullable [] sums) {
    for (int i = 0; counts != null && i < counts.counts.size; i++) {
      int row = counts.row(i);
      long[] its = sums[row];
      if (its == null) {
        its = new long[QualityReport.OUTCOMES];
        sums[row] = its;
      }
      its[counts.outcome(i)] += counts.counts.items[i];
    }
  }
}
