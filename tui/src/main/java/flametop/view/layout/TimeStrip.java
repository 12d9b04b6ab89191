package flametop.view.layout;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.base.Action;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.base.Zone;
import flametop.view.state.TimeChoice;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The places of times on the strip. A column stands for a fixed range of whole seconds: columns
 * move but do not change.
 *
 * @param left the first column of the strip on the screen
 * @param columns of the strip; the newest is the last
 * @param seconds of a column
 * @param newest number of the last column: seconds of CLOCK_MONOTONIC per seconds of a column
 * @param present number of the column of the present
 * @param span seconds that the strip shows at most
 */
public record TimeStrip(int left, int columns, int seconds, long newest, long present, long span) {
  /** The largest number of waiting tasks that has room. With more, the strip is shorter. */
  private static final int MANY_WAIT = 99;

  /** The strip shows so many seconds at most, unless a longer range is chosen. */
  private static final int MOST_SECONDS = 300;

  private static final int LABEL = 7;

  /** Cells of an amount a second. */
  private static final int RATE = 16;

  private static final int LEAST = 8;
  private static final long SECOND = 1_000_000_000L;

  /**
   * The strip of a picture.
   *
   * @return null without room, or with nothing to show
   */
  public static @Nullable TimeStrip of(Scene scene) {
    if (scene.snapshot.isOpening() || scene.stripRows == 0) {
      return null;
    }
    Snapshot.Host host = scene.snapshot.live().host();
    int width = scene.columns - 3 - TextWidth.of(now(scene)) - LABEL;
    if (width < LEAST) {
      return null;
    }
    // A column is one second as long as all seconds fit, so that the strip is as wide as it can be.
    int past = Math.min(host.busyCpus().length, MOST_SECONDS);
    long chosen = scene.state.moment().range().map(TimeRange::nanos).orElse(0L) / SECOND;
    boolean heat = HeatCells.wanted(scene.state);
    int seconds = heat ? 1 : (int) Math.max(1, (Math.max(past, chosen) + width - 1) / width);
    long present = host.time() / SECOND / seconds;
    long last = last(scene, present, width, seconds);
    long span = Math.min(Math.max(MOST_SECONDS, chosen), (long) width * seconds);
    return new TimeStrip(LABEL, width, seconds, last, present, span);
  }

  /**
   * The last column: that of the present, unless cursor or range are too long ago for the strip.
   * Then they are in the middle half of the strip, which stands still meanwhile.
   */
  private static long last(Scene scene, long present, int width, int seconds) {
    TimeChoice time = scene.state.time();
    Optional<TimeRange> range = scene.state.moment().range();
    if (!time.on() && range.isEmpty()) {
      return present;
    }
    long wanted = time.on() ? time.cursor() : range.orElseThrow().from();
    long column = Math.floorDiv(wanted, seconds * SECOND);
    int half = width / 2;
    boolean seen = column > present - width;
    long end = (Math.floorDiv(column, half) + 1) * half - 1 + half / 2;
    return seen ? present : Math.min(present, end);
  }

  /** How long before the present the strip begins, seconds. */
  public long past() {
    return span + (present - newest) * seconds;
  }

  /** The rows of the strip, with its labels. */
  public static Zone<Action> zone(Scene scene) {
    return new Zone<>(0, scene.stripTop, scene.columns, scene.stripRows, Action.TIME);
  }

  /** The time of a column of the screen; beside the strip, the time of the nearest column. */
  public TimeRange at(int x) {
    return time(newest - Math.max(0, Math.min(columns - 1, left + columns - 1 - x)));
  }

  /** The time of a column with a number. */
  public TimeRange time(long number) {
    long first = number * seconds;
    return new TimeRange(first * SECOND, (first + seconds) * SECOND);
  }

  /** The number of the column with a time. */
  public long number(long time) {
    return Math.floorDiv(time, seconds * SECOND);
  }

  /** The column of the screen with a time, or the nearest one. */
  public int column(long time) {
    long ago = newest - number(time);
    return left + columns - 1 - (int) Math.max(0, Math.min(columns - 1, ago));
  }

  /**
   * The mean over a time of figures by second, the newest last; NaN if no figure is in that time.
   */
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

  /** The figure of the newest finished second: the current second still changes. */
  private static double newest(float[] values) {
    for (int i = values.length - 2; i >= 0; i--) {
      if (!Float.isNaN(values[i])) {
        return values[i];
      }
    }
    return values.length == 0 ? Double.NaN : values[values.length - 1];
  }

  /** A figure in a field for the largest one, so that the width of the strip stays. */
  private static String field(double value, int largest) {
    return Units.right(figure(value), Integer.toString(largest).length() + 2);
  }

  /** The words at the right of the strip: the present. */
  public static String now(Scene scene) {
    EventsReport.Row events = HeatCells.wanted(scene.state) ? null : MeasureWords.shown(scene);
    return events == null ? busyNow(scene) : weightNow(scene, events.measure());
  }

  private static String weightNow(Scene scene, Measure measure) {
    float[] weights = scene.snapshot.live().events().weights();
    String now = MeasureWords.perSecond(measure, newest(weights));
    String field = " ".repeat(Math.max(0, RATE - TextWidth.of(now))) + now;
    return scene.columns < 100
        ? field
        : "most " + MeasureWords.perSecond(measure, most(weights)) + "  now" + field;
  }

  /** The largest of figures by second; NaN without one. */
  public static double most(float[] values) {
    double most = Double.NaN;
    for (float value : values) {
      most = Float.isNaN(value) || most >= value ? most : value;
    }
    return most;
  }

  private static String busyNow(Scene scene) {
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
        time.ranged() ? host.time() - time.graph().from() : scene.state.moment().span(host.time());
    long full = time.past().fullNanos();
    boolean beyond = back > full && full < time.runNanos();
    return beyond && scene.columns >= 100
        ? "older than " + Units.span(full) + " only as sums  " + text
        : text;
  }
}
