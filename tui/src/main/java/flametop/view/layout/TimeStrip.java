package flametop.view.layout;

import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.base.Action;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.base.Zone;

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
public record TimeStrip(int left, int columns, int seconds, long newest, int span) {
  /** More tasks may wait; then the strip is shorter. */
  private static final int MANY_WAIT = 99;

  private static final int MOST_SECONDS = 300;
  private static final int LABEL = 7;
  private static final int LEAST = 8;
  private static final long SECOND = 1_000_000_000L;

  /**
   * The strip of a picture.
   *
   * @return null if there is no room for one, or nothing to show
   */
  public static TimeStrip of(Scene scene) {
    if (scene.snapshot == null || scene.stripRows == 0) {
      return null;
    }
    Snapshot.Host host = scene.snapshot.live().host();
    int width = scene.columns - 3 - TextWidth.of(now(scene)) - LABEL;
    if (width < LEAST) {
      return null;
    }
    // A second each as long as all of them fit, so that it is as wide as it can be.
    int past = Math.min(host.busyCpus().length, MOST_SECONDS);
    int seconds = Math.max(1, (past + width - 1) / width);
    int span = Math.min(MOST_SECONDS, width * seconds);
    return new TimeStrip(LABEL, width, seconds, host.time() / SECOND / seconds, span);
  }

  /** Its rows, between and beside its labels. */
  public static Zone<Action> zone(Scene scene) {
    return new Zone<>(0, scene.stripTop, scene.columns, scene.stripRows, Action.TIME);
  }

  /** The time of a column of the screen; that of the nearest one if it is beside the strip. */
  public TimeRange at(int x) {
    int ago = Math.max(0, Math.min(columns - 1, left + columns - 1 - x));
    long first = (newest - ago) * seconds;
    return new TimeRange(first * SECOND, (first + seconds) * SECOND);
  }

  /** The column of the screen that a time is in, or the nearest one. */
  public int column(long time) {
    long ago = newest - Math.floorDiv(time, seconds * SECOND);
    return left + columns - 1 - (int) Math.max(0, Math.min(columns - 1, ago));
  }

  /** Mean of figures by second, the newest last, over a time; NaN if none of them is in it. */
  public static double mean(float[] values, long newestNanos, TimeRange range) {
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

  /** A number of CPUs or tasks. */
  public static String figure(double value) {
    return Double.isNaN(value) ? "n/a" : Units.oneDecimal(value);
  }

  /** The newest second that is over, if one is known: the one that has just begun changes yet. */
  private static double newest(float[] values) {
    for (int i = values.length - 2; i >= 0; i--) {
      if (!Float.isNaN(values[i])) {
        return values[i];
      }
    }
    return values.length == 0 ? Double.NaN : values[values.length - 1];
  }

  /** So wide as the largest would be, so that the strip stays as wide as it is. */
  private static String field(double value, int largest) {
    return Units.right(figure(value), Integer.toString(largest).length() + 2);
  }

  /** What stands at its right: the present. */
  public static String now(Scene scene) {
    Snapshot.Covered time = scene.snapshot.live().time();
    Snapshot.Host host = scene.snapshot.live().host();
    float[] busy = host.busyCpus();
    String text =
        busy.length == 0 ? "" : "busy " + field(newest(busy), host.cpus().size()) + " cpu";
    float[] waiting = host.waitingTasks();
    if (scene.columns >= 80 && waiting.length > 0) {
      text = "waiting " + field(newest(waiting), MANY_WAIT) + "  " + text;
    }
    long back =
        time.ranged() ? host.time() - time.graph().from() : scene.state.moment().windowNanos();
    boolean beyond = back > time.compactedNanos() && time.compactedNanos() < time.runNanos();
    return beyond && scene.columns >= 100
        ? "older than " + Units.span(time.compactedNanos()) + " only as sums  " + text
        : text;
  }
}
