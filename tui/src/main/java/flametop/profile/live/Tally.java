package flametop.profile.live;

import flametop.profile.answer.QualityReport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Counts how samples ended, by row: since the start, and by steps of the last minutes. Where there
 * are many rows, those that were not counted for longest are summed up in one.
 */
final class Tally {
  /** The row of rows that are no more. */
  static final int GONE = 0;

  static final int STEPS = 60;

  private static final int MOST_ROWS = 8_192;

  private static final int OUTCOME_BITS = 4;

  /** Counts of one step, by row and outcome; open addressing. */
  private static final class Counts {
    private int[] keys = new int[64];
    private int[] counts = new int[64];
    private int size;

    Counts() {
      Arrays.fill(keys, -1);
    }

    Counts(Counts from) {
      keys = from.keys.clone();
      counts = from.counts.clone();
      size = from.size;
    }

    void add(int key, int count) {
      int mask = keys.length - 1;
      int at = key * 0x9E3779B9 >>> 7 & mask;
      while (keys[at] != key && keys[at] >= 0) {
        at = at + 1 & mask;
      }
      if (keys[at] < 0) {
        if (2 * ++size > keys.length) {
          grow();
          size--;
          add(key, count);
          return;
        }
        keys[at] = key;
      }
      counts[at] += count;
    }

    private void grow() {
      int[] oldKeys = keys;
      int[] oldCounts = counts;
      keys = new int[2 * oldKeys.length];
      counts = new int[2 * oldKeys.length];
      Arrays.fill(keys, -1);
      size = 0;
      for (int i = 0; i < oldKeys.length; i++) {
        if (oldKeys[i] >= 0) {
          add(oldKeys[i], oldCounts[i]);
        }
      }
    }
  }

  private record Row(int pid, String name, long[] all) {}

  private final List<Row> rows = new ArrayList<>();
  private long[] lastStep = new long[64];
  private final Counts[] steps = new Counts[STEPS];
  private long step = -1;
  private long firstStep = -1;

  Tally(String gone) {
    row(0, gone);
  }

  /** A copy that stays as it is. */
  Tally(Tally from) {
    for (Row row : from.rows) {
      rows.add(new Row(row.pid, row.name, row.all.clone()));
    }
    lastStep = from.lastStep.clone();
    for (int i = 0; i < STEPS; i++) {
      steps[i] = from.steps[i] == null ? null : new Counts(from.steps[i]);
    }
    step = from.step;
    firstStep = from.firstStep;
  }

  /** A new row. */
  int row(int pid, String name) {
    if (rows.size() == lastStep.length) {
      lastStep = Arrays.copyOf(lastStep, 2 * rows.size());
    }
    lastStep[rows.size()] = step;
    rows.add(new Row(pid, name, new long[QualityReport.OUTCOMES]));
    return rows.size() - 1;
  }

  /** Whether there are so many rows that {@link #compact} is due. */
  boolean full() {
    return rows.size() > MOST_ROWS;
  }

  /**
   * Sums up the half of the rows that was not counted for longest, and all that are not in a step
   * any more: so often as rows come, each costs the same.
   *
   * @return the new number of each row
   */
  int[] compact() {
    int[] to = new int[rows.size()];
    List<Row> old = new ArrayList<>(rows);
    long[] oldSteps = lastStep;
    BitSet kept = new BitSet();
    IntStream.range(1, old.size())
        .filter(i -> oldSteps[i] > step - STEPS)
        .boxed()
        .sorted(Comparator.comparingLong((Integer i) -> oldSteps[i]).reversed())
        .limit(MOST_ROWS / 2)
        .forEach(kept::set);
    rows.clear();
    lastStep = new long[old.size()];
    for (int i = 0; i < old.size(); i++) {
      if (i != GONE && !kept.get(i)) {
        to[i] = GONE;
        for (int o = 0; o < QualityReport.OUTCOMES; o++) {
          rows.get(GONE).all[o] += old.get(i).all[o];
        }
      } else {
        to[i] = rows.size();
        lastStep[rows.size()] = oldSteps[i];
        rows.add(old.get(i));
      }
    }
    for (int s = 0; s < STEPS; s++) {
      Counts before = steps[s];
      if (before != null) {
        steps[s] = new Counts();
        for (int i = 0; i < before.keys.length; i++) {
          if (before.keys[i] >= 0) {
            int row = to[before.keys[i] >> OUTCOME_BITS];
            int outcome = before.keys[i] & (1 << OUTCOME_BITS) - 1;
            steps[s].add(row << OUTCOME_BITS | outcome, before.counts[i]);
          }
        }
      }
    }
    return to;
  }

  /** Goes on to a step; those before it are forgotten from {@link #STEPS} on. */
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
    if (steps[at] == null) {
      steps[at] = new Counts();
    }
    steps[at].add(row << OUTCOME_BITS | outcome, 1);
    rows.get(row).all[outcome]++;
    lastStep[row] = step;
  }

  /**
   * Rows that were counted, in the order they came.
   *
   * @param count of steps, the one that goes on included; {@link Integer#MAX_VALUE}: all since the
   *     start
   */
  List<QualityReport.Row> report(int count) {
    long[][] sums = new long[rows.size()][];
    if (count == Integer.MAX_VALUE) {
      for (int i = 0; i < sums.length; i++) {
        sums[i] = rows.get(i).all.clone();
      }
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

  private static void add(Counts counts, long[][] sums) {
    if (counts == null) {
      return;
    }
    for (int i = 0; i < counts.keys.length; i++) {
      if (counts.keys[i] >= 0) {
        int row = counts.keys[i] >> OUTCOME_BITS;
        if (sums[row] == null) {
          sums[row] = new long[QualityReport.OUTCOMES];
        }
        sums[row][counts.keys[i] & (1 << OUTCOME_BITS) - 1] += counts.counts[i];
      }
    }
  }
}
