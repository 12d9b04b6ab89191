package flametop.view;

import flametop.profile.Snapshot;
import java.util.Locale;

/**
 * The last minutes as a strip: busy CPUs by height and colour; what the graph shows of it stands on
 * a lighter ground.
 */
final class TimePainter {
  private static final int[] SPANS = {60, 120, 300};
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int DIM = Paint.of(Role.DIM);
  private static final char[] HEIGHTS = {' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'};

  private TimePainter() {}

  static void paint(Scene scene, CellGrid grid) {
    Snapshot snapshot = scene.snapshot;
    if (snapshot == null || scene.stripRows == 0) {
      return;
    }
    float[] busy = snapshot.busyCpus();
    int span = SPANS[SPANS.length - 1];
    for (int i = SPANS.length - 1; i >= 0; i--) {
      span = busy.length <= SPANS[i] ? SPANS[i] : span;
    }
    int labelRow = scene.stripTop + scene.stripRows - 1;
    String label = span / 60 + " min";
    String now = now(scene);
    int nowX = scene.columns - 1 - TextWidth.of(now);
    grid.text(nowX, labelRow, scene.columns, now, DIM, GROUND, 0);

    int from = 7;
    int width = nowX - 2 - from;
    if (width < 8) {
      return;
    }
    int cpus = Math.max(1, snapshot.cpus().size());
    double shownSeconds = snapshot.windowNanos() / 1e9;
    // A column is so many whole seconds, always the same ones: it moves but does not change.
    int seconds = (span + width - 1) / width;
    int columns = Math.min(width, span / seconds + 1);
    grid.text(from + width - columns - 6, labelRow, 6, label, DIM, GROUND, 0);
    long newest = snapshot.time() / 1_000_000_000L;
    long newestColumn = newest / seconds;
    for (int c = 0; c < columns; c++) {
      long first = (newestColumn - c) * seconds;
      double value = mean(busy, newest - first - seconds + 1, newest - first);
      if (Double.isNaN(value)) {
        int quiet = Paint.faded(Paint.of(Role.DIM));
        grid.put(from + width - 1 - c, labelRow, '▁', quiet, GROUND, 0);
        continue;
      }
      double share = Math.min(1, value / cpus);
      boolean shown = newest - first - seconds + 1 < shownSeconds;
      column(
          scene,
          grid,
          from + width - 1 - c,
          share,
          Paint.heat(share),
          shown ? Paint.of(Role.CHROME) : GROUND);
    }
  }

  private static void column(
      Scene scene, CellGrid grid, int x, double share, int paint, int background) {
    int eighths = Math.max(1, (int) Math.round(share * scene.stripRows * 8));
    for (int r = 0; r < scene.stripRows; r++) {
      int height = Math.max(0, Math.min(8, eighths - r * 8));
      grid.put(x, scene.stripTop + scene.stripRows - 1 - r, HEIGHTS[height], paint, background, 0);
    }
  }

  /** Mean of the seconds from {@code youngest} to {@code oldest} ago; NaN if there are none. */
  private static double mean(float[] values, long youngest, long oldest) {
    double sum = 0;
    int n = 0;
    for (long ago = Math.max(0, youngest); ago <= oldest && ago < values.length; ago++) {
      float value = values[values.length - 1 - (int) ago];
      if (!Float.isNaN(value)) {
        sum += value;
        n++;
      }
    }
    return n == 0 ? Double.NaN : sum / n;
  }

  private static String now(Scene scene) {
    Snapshot snapshot = scene.snapshot;
    float[] busy = snapshot.busyCpus();
    String text =
        busy.length == 0 ? "" : String.format(Locale.ROOT, "busy %.1f cpu", busy[busy.length - 1]);
    float[] waiting = snapshot.waitingTasks();
    if (scene.columns >= 100 && waiting.length > 0) {
      text = String.format(Locale.ROOT, "waiting %.1f  ", waiting[waiting.length - 1]) + text;
    }
    boolean beyond =
        scene.state.windowNanos() > snapshot.compactedNanos()
            && snapshot.compactedNanos() < snapshot.runNanos();
    return beyond && scene.columns >= 80
        ? "older than " + Units.span(snapshot.compactedNanos()) + " only as sums  " + text
        : text;
  }
}
