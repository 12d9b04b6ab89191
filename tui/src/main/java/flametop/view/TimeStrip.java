package flametop.view;

import flametop.profile.answer.Snapshot;

/**
 * Where the times of the strip are. A column is so many whole seconds, always the same ones: it
 * moves but does not change.
 *
 * @param left its first column on the screen
 * @param columns that it has; the newest is the last
 * @param seconds of a column
 * @param newest number of the newest column: seconds of CLOCK_MONOTONIC by those of a column
 * @param span seconds that it shows at most
 */
record TimeStrip(int left, int columns, int seconds, long newest, int span) {
  private static final int MOST_SECONDS = 300;
  private static final int LABEL = 7;
  private static final int LEAST = 8;
  private static final long SECOND = 1_000_000_000L;

  /**
   * The strip of a picture.
   *
   * @param end the column of the screen behind it
   * @return null if there is no room for one, or nothing to show
   */
  static TimeStrip of(Scene scene, int end) {
    Snapshot snapshot = scene.snapshot;
    int width = end - LABEL;
    if (snapshot == null || scene.stripRows == 0 || width < LEAST) {
      return null;
    }
    // A second each as long as all of them fit, so that it is as wide as it can be.
    int past = Math.min(snapshot.busyCpus().length, MOST_SECONDS);
    int seconds = Math.max(1, (past + width - 1) / width);
    int span = Math.min(MOST_SECONDS, width * seconds);
    return new TimeStrip(LABEL, width, seconds, snapshot.present() / SECOND / seconds, span);
  }

  /** The time of a column of the screen; that of the nearest one if it is beside the strip. */
  TimeRange at(int x) {
    int ago = Math.max(0, Math.min(columns - 1, left + columns - 1 - x));
    long first = (newest - ago) * seconds;
    return new TimeRange(first * SECOND, (first + seconds) * SECOND);
  }

  /** The column of the screen that a time is in, or the nearest one. */
  int column(long time) {
    long ago = newest - Math.floorDiv(time, seconds * SECOND);
    return left + columns - 1 - (int) Math.max(0, Math.min(columns - 1, ago));
  }

  /** Mean of figures by second, the newest last, over a time; NaN if none of them is in it. */
  static double mean(float[] values, long newestNanos, TimeRange range) {
    long newest = newestNanos / SECOND;
    double sum = 0;
    int n = 0;
    long last = Math.min(newest, (range.to() - 1) / SECOND);
    long first = Math.max(newest - values.length + 1, range.from() / SECOND);
    for (long second = first; second <= last; second++) {
      float value = values[values.length - 1 - (int) (newest - second)];
      if (!Float.isNaN(value)) {
        sum += value;
        n++;
      }
    }
    return n == 0 ? Double.NaN : sum / n;
  }
}
