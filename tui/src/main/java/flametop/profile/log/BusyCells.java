package flametop.profile.log;

import flametop.profile.answer.HeatMap;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The time of tasks on CPUs in cells of 20 ms, for an hour. All cells together have the time that
 * the kernel counted, to rounding: where a task ran between two sights is sometimes known, and else
 * its time is spread evenly over the time between.
 */
public final class BusyCells {
  private static final int SECONDS = 3_600;
  private static final long SECOND = 1_000_000_000L;
  private static final int CELLS = HeatMap.CELLS;
  private static final long CELL = HeatMap.CELL_NANOS;

  /** A task that ran so much of a stretch was there all the time, about. */
  private static final double NEARLY_ALL = 0.9;

  /** By second modulo their number; null where no task ran. */
  private final HeatMap.@Nullable Column[] columns = new HeatMap.Column[SECONDS];

  private final long[] seconds = new long[SECONDS];

  /** Whether a column was handed out: it is copied before the next change. */
  private final boolean[] shared = new boolean[SECONDS];

  private long newest = Long.MIN_VALUE + SECONDS;

  /**
   * A task was on a CPU for so long, somewhere in a stretch of time.
   *
   * @param from ns
   * @param to ns; after {@code from}
   */
  void ran(long from, long to, long nanos) {
    // The sum of a task lags by up to a tick, so more may be told than has room.
    long begin = Math.max(to - SECONDS / 2 * SECOND, Math.min(from, to - nanos));
    boolean loose = to - begin > CELL && nanos < NEARLY_ALL * (to - begin);
    double density = (double) nanos / (to - begin);
    for (long at = begin; at < to; ) {
      long end = Math.min(to, (Math.floorDiv(at, CELL) + 1) * CELL);
      add(Math.floorDiv(at, CELL), density * (end - at), loose);
      at = end;
    }
  }

  /** A CPU was found busy at a time; the sample stands for so many ns. */
  void seen(long time, long nanos) {
    long second = Math.floorDiv(time, SECOND);
    if (second > newest - SECONDS) {
      column(second).loose()[(int) (Math.floorMod(time, SECOND) / CELL)] -= nanos;
    }
  }

  private void add(long cell, double nanos, boolean loose) {
    long second = Math.floorDiv(cell, CELLS);
    if (second <= newest - SECONDS) {
      return;
    }
    HeatMap.Column column = column(second);
    int at = (int) Math.floorMod(cell, (long) CELLS);
    column.busy()[at] += (float) nanos;
    column.loose()[at] += loose ? (float) nanos : 0;
  }

  /** The column of a second, which may be changed. */
  private HeatMap.Column column(long second) {
    int at = (int) Math.floorMod(second, (long) SECONDS);
    HeatMap.Column column = columns[at];
    if (column == null || seconds[at] != second) {
      column = new HeatMap.Column(new float[CELLS], new float[CELLS]);
    } else if (shared[at]) {
      column = new HeatMap.Column(column.busy().clone(), column.loose().clone());
    }
    columns[at] = column;
    seconds[at] = second;
    shared[at] = false;
    newest = Math.max(newest, second);
    return column;
  }

  /**
   * All columns until a time.
   *
   * @param from when sampling began, ns: of what was before nothing is known
   */
  public HeatMap map(long from, long until) {
    long last = Math.floorDiv(until, SECOND);
    long first = Math.max(Math.floorDiv(from, SECOND), last - SECONDS + 1);
    if (first > last) {
      return new HeatMap(last, new HeatMap.Column[0]);
    }
    HeatMap.Column none = new HeatMap.Column(new float[CELLS], new float[CELLS]);
    HeatMap.Column[] copy = new HeatMap.Column[(int) (last - first + 1)];
    Arrays.fill(copy, none);
    for (long second = first; second <= last; second++) {
      int at = (int) Math.floorMod(second, (long) SECONDS);
      HeatMap.Column column = columns[at];
      if (column != null && seconds[at] == second) {
        shared[at] = true;
        copy[(int) (second - first)] = column;
      }
    }
    return new HeatMap(last, copy);
  }
}
