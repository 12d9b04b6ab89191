package flametop.profile.answer;

import org.jspecify.annotations.Nullable;

/**
 * The time on CPUs of the sampled tasks in cells of 20 ms, by second. Immutable: nobody changes an
 * array that was handed out.
 *
 * @param newest the last second, of CLOCK_MONOTONIC
 * @param columns one a second, oldest first, the last is {@code newest}; null where nothing is
 *     known
 */
public record HeatMap(long newest, @Nullable Column[] columns) implements Page {
  /** Cells of a second. */
  public static final int CELLS = 50;

  /** How long a cell is, ns. */
  public static final long CELL_NANOS = 1_000_000_000L / CELLS;

  /**
   * One second.
   *
   * @param busy ns on CPUs by cell, those of all CPUs together
   * @param loose ns of {@code busy} whose place is known no better than the time between two sights
   *     of a task, longer than a cell: they are spread evenly over that time; less the time that
   *     samples of the CPU clock in the cell stand for, so maybe below zero
   */
  public record Column(float[] busy, float[] loose) {}

  /** Asks for it. */
  public record Query() implements PageQuery {
    @Override
    public boolean isAnsweredBy(@Nullable Page page) {
      return page instanceof HeatMap;
    }
  }

  /** The column of a second; null if nothing is known of the second. */
  public @Nullable Column column(long second) {
    long back = newest - second;
    return back < 0 || back >= columns.length ? null : columns[columns.length - 1 - (int) back];
  }

  /** ns on CPUs in a stretch of whole cells; NaN if nothing is known of a part of it. */
  public double busy(TimeRange range) {
    return sum(range, false);
  }

  /** The part of {@link #busy} that nothing seen in these cells bears out; maybe below zero. */
  public double loose(TimeRange range) {
    return sum(range, true);
  }

  private double sum(TimeRange range, boolean loose) {
    double sum = 0;
    long last = Math.floorDiv(range.to() - 1, CELL_NANOS);
    for (long cell = Math.floorDiv(range.from(), CELL_NANOS); cell <= last; cell++) {
      Column column = column(Math.floorDiv(cell, CELLS));
      if (column == null) {
        return Double.NaN;
      }
      sum += (loose ? column.loose : column.busy)[(int) Math.floorMod(cell, (long) CELLS)];
    }
    return sum;
  }
}
