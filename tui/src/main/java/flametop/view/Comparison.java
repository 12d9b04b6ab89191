package flametop.view;

import flametop.profile.GraphSlice;
import flametop.profile.Selection;
import flametop.profile.Snapshot;
import java.util.Locale;

/**
 * What has become more and what less, by the share of all. Where time was placed by samples, what
 * is within their noise is the same.
 */
final class Comparison {
  private static final String[][] LEGEND = {
    {"compared"},
    {"width", "the larger of the two"},
    {"more, less", "share of all, then and now"},
    {"underlined", "gone"},
  };

  /** Of all: less than this is no change that anybody looks for. */
  private static final double LEAST_SHARE = 0.0005;

  /** Of the frame itself: up to here it is the same, from there on much. */
  private static final double SAME = 0.02;

  private static final double MUCH = 0.25;

  /** Standard deviations of the number of samples that are no change. */
  private static final double NOISE = 3;

  private static final double SECOND = 1e9;

  private Comparison() {}

  static boolean isGone(GraphSlice slice, int index) {
    return slice.baseline() != null && slice.weight()[index] == 0 && slice.baseline()[index] > 0;
  }

  /**
   * Ground of a frame.
   *
   * @param of what the slice is part of
   */
  static int paint(GraphSlice slice, int index, Snapshot of) {
    if (isGone(slice, index)) {
      return Paint.of(Role.CHROME);
    }
    double change = change(slice, index, of);
    if (change == 0) {
      return Paint.of(Role.GROUP);
    }
    int paint = Paint.of(change > 0 ? Role.WORSE : Role.BETTER);
    return Math.abs(change) < MUCH ? Paint.faded(paint) : paint;
  }

  /** {@code +} or {@code -} where colours cannot say it; else nothing. */
  static String sign(GraphSlice slice, int index, Snapshot of) {
    double change = change(slice, index, of);
    return change > 0 ? "+" : change < 0 ? "-" : "";
  }

  private static double change(GraphSlice slice, int index, Snapshot of) {
    Snapshot.Baseline baseline = of.baseline();
    double scale =
        baseline == null || baseline.windowNanos() <= 0
            ? 1
            : (double) of.windowNanos() / baseline.windowNanos();
    return change(
        slice.weight()[index],
        slice.baseline()[index],
        slice.extent(0),
        baseline == null ? 0 : sampleNanos(of),
        scale);
  }

  /** What one sample stands for, ns. */
  private static double sampleNanos(Snapshot of) {
    return SECOND / Math.max(1, of.cpuHz() > 0 ? of.cpuHz() : of.passHz());
  }

  /**
   * Part of the larger of the two by which it grew (or shrank, below 0); 0 if it is the same.
   *
   * @param before scaled to the length of time of {@code now}
   * @param sample what one sample stands for; 0 where nothing was sampled
   * @param scale how much {@code before} was scaled
   */
  private static double change(long now, long before, long total, double sample, double scale) {
    long larger = Math.max(now, before);
    long more = now - before;
    double noise = NOISE * Math.sqrt(sample * (now + before * scale));
    return larger == 0
            || Math.abs(more) < LEAST_SHARE * total
            || Math.abs(more) < SAME * larger
            || Math.abs(more) < noise
        ? 0
        : (double) more / larger;
  }

  /** What the help says of it; nothing of a file that is compared with none. */
  static String[][] legend(Scene scene) {
    boolean none =
        scene.options.origin() == Origin.FILE
            && (scene.snapshot == null || scene.snapshot.graph().baseline() == null);
    return none ? new String[0][] : LEGEND;
  }

  /** {@code 12.3% → 15.1% of all, ×1.2}. */
  static String text(GraphSlice slice, int index) {
    long now = slice.weight()[index];
    long before = slice.baseline()[index];
    long total = slice.extent(0);
    String shares = Units.share(before, total) + " → " + Units.share(now, total) + " of all";
    if (now == 0 || before == 0) {
      return shares + (now == before ? "" : now == 0 ? ", gone" : ", new");
    }
    double times = (double) now / before;
    return shares + String.format(Locale.ROOT, times < 0.095 ? ", ×%.2f" : ", ×%.1f", times);
  }

  /**
   * How a frame has changed since the window before: {@code ▲ +2.1%} of all, in a field so that
   * nothing moves.
   */
  static HeaderPainter.Piece trend(Selection selection, Snapshot of) {
    Selection.Before before = selection.before();
    if (before == null || before.windowNanos() <= 0) {
      return HeaderPainter.Piece.of("         ", Role.DIM);
    }
    double scale = (double) of.windowNanos() / before.windowNanos();
    long then = (long) (before.weight() * scale);
    long total = Math.max(of.total(), (long) (before.total() * scale));
    double change = change(selection.weight(), then, total, sampleNanos(of), scale);
    double percent = total <= 0 ? 0 : 100.0 * (selection.weight() - then) / total;
    double share = Math.abs(percent) < 0.05 ? 0 : percent;
    String arrow = change > 0 ? "▲ " : change < 0 ? "▼ " : "  ";
    Role role = change > 0 ? Role.WORSE : change < 0 ? Role.BETTER : Role.DIM;
    return HeaderPainter.Piece.of(
        arrow + String.format(Locale.ROOT, "%-7s", String.format(Locale.ROOT, "%+.1f%%", share)),
        role);
  }
}
