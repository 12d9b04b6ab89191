package flametop.view.paint;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.profile.tree.Noise;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.Units;
import flametop.view.layout.Piece;
import java.util.Locale;

/**
 * Grown and shrunk frames, by their share of all. Times from samples count as equal within the
 * noise of the samples.
 */
public final class Comparison {
  /** The least change of a frame, as a part of the frame, that counts as large. */
  private static final double MUCH = 0.25;

  /** The room of a trend that is not known. */
  static final Piece NO_TREND = Piece.of("         ", Role.DIM);

  /** Cells of a change: {@code ▲ +2.1%}. */
  public static final int CHANGE = 8;

  private Comparison() {}

  static boolean isGone(GraphSlice slice, int index) {
    return slice.baseline() != null && slice.weight()[index] == 0 && slice.baseline()[index] > 0;
  }

  /**
   * The background of a frame.
   *
   * @param of the snapshot of the slice
   */
  public static int paint(GraphSlice slice, int index, Snapshot of) {
    if (isGone(slice, index)) {
      return Paint.CHROME;
    }
    double change = change(slice, index, of);
    if (change == 0) {
      return Paint.of(Role.GROUP);
    }
    int paint = Paint.of(role(change));
    return Math.abs(change) < MUCH ? Paint.faded(paint) : paint;
  }

  /**
   * {@code +} for a grown frame, {@code -} for a shrunk one, empty for an equal one: for screens
   * without colours.
   */
  static String sign(GraphSlice slice, int index, Snapshot of) {
    double change = change(slice, index, of);
    return change > 0 ? "+" : change < 0 ? "-" : "";
  }

  private static double change(GraphSlice slice, int index, Snapshot of) {
    return noise(of).change(slice.weight()[index], slice.before(index), slice.extent(0));
  }

  /** The noise of samples in a graph that is compared with another time. */
  private static Noise noise(Snapshot of) {
    if (!(of.context() instanceof Snapshot.Live live) || live.time().baseline().isEmpty()) {
      return Noise.NONE;
    }
    long before = live.time().baseline().get().nanos();
    return noise(live, before <= 0 ? 1 : (double) live.time().nanos() / before);
  }

  private static Noise noise(Snapshot.Live live, double scale) {
    EventsReport.Row events = live.events().shownRow();
    return events == null
        ? Noise.of(live.host().passHz(), live.host().cpuHz(), scale)
        : new Noise(events.stackWeight(), scale);
  }

  /** The role for a grown frame, or for a shrunk one. */
  public static Role role(double change) {
    return change > 0 ? Role.WORSE : Role.BETTER;
  }

  /**
   * A change in a field of {@link #CHANGE} cells: {@code ▲ +2.1%}; without an arrow the change is
   * within the noise.
   *
   * @param change {@link Noise#change}
   * @param share the difference of the shares
   */
  public static String figure(double change, double share) {
    String text = (Math.round(share * 1000) > 0 ? "+" : "") + Units.percent(share);
    String arrow = change > 0 ? "▲" : change < 0 ? "▼" : " ";
    int pad = CHANGE - arrow.length() - text.length();
    return arrow + " ".repeat(Math.max(0, pad)) + text;
  }

  /** How strongly a change is written. */
  public static int attribute(double change) {
    return Math.abs(change) < MUCH ? 0 : CellGrid.BOLD;
  }

  /** {@code 12.3% → 15.1% of all, ×1.2}. */
  public static String text(GraphSlice slice, int index) {
    long now = slice.weight()[index];
    long before = slice.before(index);
    long total = slice.extent(0);
    return shares(now, before, total) + " of all" + times(now, before);
  }

  /** {@code 12.3% → 15.1%}. */
  public static String shares(long now, long before, long total) {
    return Units.share(before, total) + " → " + Units.share(now, total);
  }

  /** {@code , ×1.2}; empty for nothing then and now. */
  public static String times(long now, long before) {
    if (now == 0 || before == 0) {
      return now == before ? "" : now == 0 ? ", gone" : ", new";
    }
    double times = (double) now / before;
    return String.format(Locale.ROOT, times < 0.095 ? ", ×%.2f" : ", ×%.1f", times);
  }

  /**
   * The change of a frame since the window before, {@code ▲ +2.1%} of all, in a field of fixed
   * width so that nothing moves.
   */
  public static Piece trend(Selection selection, Snapshot of) {
    Selection.Before before = selection.before();
    if (before == null || before.windowNanos() <= 0) {
      return NO_TREND;
    }
    double scale = (double) of.live().time().nanos() / before.windowNanos();
    long then = (long) (before.weight() * scale);
    long total = Math.max(of.total(), (long) (before.total() * scale));
    double change = noise(of.live(), scale).change(selection.weight(), then, total);
    double percent = total <= 0 ? 0 : 100.0 * (selection.weight() - then) / total;
    double share = Math.abs(percent) < 0.05 ? 0 : percent;
    String arrow = change > 0 ? "▲ " : change < 0 ? "▼ " : "  ";
    Role role = change == 0 ? Role.DIM : role(change);
    return Piece.of(
        arrow + String.format(Locale.ROOT, "%-7s", String.format(Locale.ROOT, "%+.1f%%", share)),
        role);
  }
}
