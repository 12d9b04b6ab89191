package flametop.view;

import flametop.profile.GraphSlice;
import java.util.Locale;

/** What has become more and what less, by the share of all. */
final class Comparison {
  /** Of all: less than this is no change that anybody looks for. */
  private static final double LEAST_SHARE = 0.0005;

  /** Of the frame itself: up to here it is the same, from there on much. */
  private static final double SAME = 0.02;

  private static final double MUCH = 0.25;

  private Comparison() {}

  static boolean isGone(GraphSlice slice, int index) {
    return slice.baseline() != null && slice.weight()[index] == 0 && slice.baseline()[index] > 0;
  }

  /** Ground of a frame. */
  static int paint(GraphSlice slice, int index, long total) {
    if (isGone(slice, index)) {
      return Paint.of(Role.CHROME);
    }
    double change = change(slice, index, total);
    if (change == 0) {
      return Paint.of(Role.GROUP);
    }
    int paint = Paint.of(change > 0 ? Role.WORSE : Role.BETTER);
    return Math.abs(change) < MUCH ? Paint.faded(paint) : paint;
  }

  /** {@code +} or {@code -} where colours cannot say it; else nothing. */
  static String sign(GraphSlice slice, int index, long total) {
    double change = change(slice, index, total);
    return change > 0 ? "+" : change < 0 ? "-" : "";
  }

  /** Part of the larger of the two by which it grew (or shrank, below 0); 0 if it is the same. */
  private static double change(GraphSlice slice, int index, long total) {
    long now = slice.weight()[index];
    long before = slice.baseline()[index];
    long larger = Math.max(now, before);
    long more = now - before;
    return larger == 0 || Math.abs(more) < LEAST_SHARE * total || Math.abs(more) < SAME * larger
        ? 0
        : (double) more / larger;
  }

  /** {@code 12.3% → 15.1% of all, ×1.2}. */
  static String text(GraphSlice slice, int index, long total) {
    long now = slice.weight()[index];
    long before = slice.baseline()[index];
    String shares = Units.share(before, total) + " → " + Units.share(now, total) + " of all";
    if (now == 0 || before == 0) {
      return shares + (now == before ? "" : now == 0 ? ", gone" : ", new");
    }
    double times = (double) now / before;
    return shares + String.format(Locale.ROOT, times < 0.095 ? ", ×%.2f" : ", ×%.1f", times);
  }
}
