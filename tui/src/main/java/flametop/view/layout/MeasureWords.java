package flametop.view.layout;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Snapshot;
import flametop.sampler.SourceState;
import flametop.view.base.Action;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Words about the source of events whose measure is shown. */
public final class MeasureWords {
  /** Cells that a spec has in the header. */
  private static final int SPEC = 48;

  private static final int SHORT_SPEC = 20;

  private MeasureWords() {}

  /** The source whose measure the picture is of; null: none, or another kind of picture. */
  public static EventsReport.@Nullable Row shown(Scene scene) {
    return scene.snapshot.context() instanceof Snapshot.Live live ? live.events().shownRow() : null;
  }

  /** How many of the events have a stack: {@code 1 stack per 1.2 MiB}. */
  public static String rate(EventsReport.Row row) {
    long rate = row.totals().rate();
    return rate == 0 ? "each event has a stack" : "1 stack per " + row.measure().text(rate);
  }

  /** A spec in so many cells: of a long one the kind and the end, which names it best. */
  public static String brief(String spec, int cells) {
    if (!TextWidth.exceeds(spec, cells)) {
      return spec;
    }
    int kind = spec.indexOf(':') + 1;
    int tail = cells - kind - 1;
    return tail < kind
        ? "…" + spec.substring(Math.max(0, spec.length() - cells + 1))
        : spec.substring(0, kind) + "…" + spec.substring(spec.length() - tail);
  }

  /** The measure in the header: the source, where there is room, and the unit. */
  static List<Piece> left(Scene scene, int form) {
    EventsReport.Row row = shown(scene);
    String unit = scene.snapshot.measure().title();
    if (row == null || form >= 4) {
      return List.of(Piece.of("  " + unit, Role.ACCENT, row == null ? null : Action.MEASURE));
    }
    String spec = brief(row.spec(), form < 2 ? SPEC : SHORT_SPEC);
    return List.of(
        Piece.of("  " + spec, Role.ACCENT, Action.MEASURE),
        Piece.of(" in " + unit, Role.TEXT, Action.MEASURE));
  }

  /** How the source is sampled, in place of the tasks. */
  static List<Piece> right(EventsReport.Row row, int form) {
    List<Piece> pieces = new ArrayList<>();
    Measure measure = row.measure();
    if (form < 2) {
      String all = measure.text(row.totals().weight()) + " in all  ";
      pieces.add(Piece.of(all, Role.TEXT, Action.SHOW_EVENTS));
    }
    if (form < 9) {
      long rate = row.totals().rate();
      String per = form < 5 ? "1 stack per " : "1/";
      String sampled =
          !row.is(SourceState.ON)
              ? row.state().toString()
              : rate == 0 ? "all sampled" : per + measure.text(rate);
      pieces.add(Piece.of(sampled + "  ", Role.TEXT, Action.SHOW_EVENTS));
      String share = Units.percent(row.notSampledShare());
      String none = (form < 5 ? "[not sampled] " : "unsampled ") + share + "  ";
      pieces.add(Piece.of(none, Role.TEXT, Action.SHOW_EVENTS));
    }
    return pieces;
  }

  /**
   * Two standard errors of a share of events of which some have a stack; 0 where all have one.
   *
   * @param weight of the part
   * @param total of all
   */
  public static double error(EventsReport.Row row, long weight, long total) {
    if (total <= 0 || row.stackWeight() <= 0) {
      return 0;
    }
    double share = Math.min(1, (double) weight / total);
    double stacks = Math.max(1, total / row.stackWeight());
    return 2 * Math.sqrt(share * (1 - share) / stacks);
  }

  /** An amount a second: {@code 9.5 MiB/s}. */
  public static String perSecond(Measure measure, double weight) {
    return Double.isNaN(weight) ? "n/a" : measure.text(Math.round(weight)) + "/s";
  }
}
