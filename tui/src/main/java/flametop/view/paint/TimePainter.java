package flametop.view.paint;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.sampler.SourceState;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.HeatCells;
import flametop.view.layout.MeasureWords;
import flametop.view.layout.Scene;
import flametop.view.layout.TimeStrip;
import flametop.view.state.TimeChoice;
import java.util.Locale;
import java.util.Optional;

/**
 * Paints the last minutes as a strip: busy CPUs by height and colour, waiting tasks above them or,
 * in one row, by the background. The time of the graph has a lighter background; a chosen range is
 * bright, the rest dim, as is time of which the history has sums only.
 */
final class TimePainter {
  private static final int QUEUED = Paint.of(Role.QUEUED);
  private static final char[] HEIGHTS = {' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'};

  /** The least number of waiting tasks per CPU that a strip of one row shows. */
  private static final double MANY = 0.5;

  /** Seconds on the strip. Longer times are told in minutes. */
  private static final long SECONDS_TOLD = 600;

  private static final long SECOND = 1_000_000_000L;

  /** The graph begins and ends with a pass, so its ends may be off by this much. */
  private static final long NEAR_NANOS = 1_500_000_000L;

  private TimePainter() {}

  static void paint(Scene scene, CellGrid grid) {
    if (scene.snapshot.isOpening() || scene.stripRows == 0) {
      return;
    }
    Snapshot.Host host = scene.snapshot.live().host();
    int labelRow = scene.stripTop + scene.stripRows - 1;
    new Words(grid, 0, labelRow, scene.columns - 1, Paint.GROUND)
        .atTheEnd(TimeStrip.now(scene), Paint.DIM);
    TimeStrip strip = TimeStrip.of(scene);
    if (strip == null) {
      return;
    }
    HeatCells map = HeatCells.of(scene);
    if (map != null) {
      HeatPainter.paint(scene, grid, map);
      return;
    }
    grid.text(1, labelRow, strip.left() - 2, past(strip), Paint.DIM, Paint.GROUND, 0);
    EventsReport events = scene.snapshot.live().events();
    boolean ofTime = MeasureWords.shown(scene) == null;
    float[] heights = ofTime ? host.busyCpus() : events.weights();
    long newest = ofTime ? host.time() : events.time();
    double full = ofTime ? Math.max(1, host.cpus().size()) : TimeStrip.most(events.weights());
    int busyRows = scene.stripRows - (ofTime && scene.stripRows > 2 ? 1 : 0);
    if (busyRows < scene.stripRows) {
      grid.text(1, scene.stripTop, strip.left() - 2, "queue", Paint.DIM, Paint.GROUND, 0);
    }
    int cpus = Math.max(1, host.cpus().size());
    TimeChoice time = scene.state.time();
    Optional<TimeRange> range = scene.state.moment().range();
    TimeRange shown = range.orElse(scene.snapshot.live().time().graph());
    long inFull = scene.snapshot.live().time().past().fullNanos();
    long summed = inFull == Long.MAX_VALUE ? Long.MIN_VALUE : host.time() - inFull;
    int cursor = time.on() ? strip.column(time.cursor()) : -1;
    for (int x = strip.left(); x < strip.left() + strip.columns(); x++) {
      TimeRange at = strip.at(x);
      double height = TimeStrip.mean(heights, newest, at);
      double waiting =
          ofTime ? TimeStrip.mean(host.waitingTasks(), host.time(), at) / cpus : Double.NaN;
      boolean chosen = at.overlaps(shown);
      boolean dim = range.isPresent() && !chosen || at.to() <= summed;
      int ground = x == cursor ? Paint.of(Role.SELECT) : chosen ? Paint.CHROME : Paint.GROUND;
      if (Double.isNaN(height)) {
        grid.put(x, labelRow, '▁', Paint.faded(Paint.DIM), ground, 0);
        continue;
      }
      double share = full > 0 ? Math.min(1, height / full) : 0;
      int paint = Paint.heat(share);
      if (busyRows < scene.stripRows) {
        int eighths =
            !(waiting >= 0.02) ? 0 : Math.max(1, (int) Math.round(Math.min(1, waiting) * 8));
        int queued = dim ? Paint.faded(QUEUED) : QUEUED;
        grid.put(x, scene.stripTop, HEIGHTS[eighths], queued, ground, 0);
      } else if (waiting >= MANY && x != cursor) {
        ground = Paint.faded(QUEUED);
      }
      int eighths = Math.max(1, (int) Math.round(share * busyRows * 8));
      column(scene, grid, x, eighths, busyRows, dim ? Paint.faded(paint) : paint, ground);
    }
    turns(scene, grid, strip);
  }

  /** How long before the present a strip begins. */
  static String past(TimeStrip strip) {
    long span = strip.past();
    return span % 60 == 0
        ? span / 60 + " min"
        : span < 600 ? span + " s" : Units.near(span * SECOND);
  }

  /** Marks when sources of events were attached (▲) and detached (▼). */
  private static void turns(Scene scene, CellGrid grid, TimeStrip strip) {
    for (EventsReport.Turn turn : scene.snapshot.live().events().turns()) {
      int x = strip.column(turn.time());
      if (strip.at(x).overlaps(new TimeRange(turn.time(), turn.time() + 1))) {
        char mark = turn.to().equals(SourceState.ON) ? '▲' : '▼';
        grid.put(x, scene.stripTop, mark, Paint.ACCENT, Paint.GROUND, CellGrid.BOLD);
      }
    }
  }

  private static void column(
      Scene scene, CellGrid grid, int x, int eighths, int rows, int paint, int ground) {
    for (int r = 0; r < rows; r++) {
      int height = Math.max(0, Math.min(8, eighths - r * 8));
      grid.put(x, scene.stripTop + scene.stripRows - 1 - r, HEIGHTS[height], paint, ground, 0);
    }
  }

  /** Paints the choice of time into the line above the strip; false without a choice. */
  static boolean choice(Scene scene, CellGrid grid, int row) {
    TimeChoice time = scene.state.time();
    Optional<TimeRange> chosen = scene.state.moment().range();
    TimeStrip strip = time.on() || chosen.isPresent() ? TimeStrip.of(scene) : null;
    if (strip == null) {
      return false;
    }
    HeatCells map = HeatCells.of(scene);
    if (map != null) {
      HeatPainter.choice(scene, grid, row, map);
      return true;
    }
    Snapshot.Live live = scene.snapshot.live();
    Snapshot.Host host = live.host();
    TimeRange range = chosen.orElseGet(() -> strip.at(strip.column(time.cursor())));
    boolean brief = range.nanos() < SECOND;
    String text =
        String.format(
            Locale.ROOT,
            " %s, from %s to %s ago: %s%s ",
            brief ? Units.age(range.nanos()) : Units.span(range.nanos()),
            ago(host, range.from()),
            ago(host, range.to()),
            (brief ? "in its second " : "") + figures(scene, range),
            turned(live.events(), range));
    String graph = chosen.isEmpty() ? kept(live.time().past()) : graph(live, range);
    if (2 + TextWidth.of(text) + TextWidth.of(graph) > scene.columns) {
      text = text.substring(0, text.indexOf(':')) + "  ";
    }
    new Words(grid, 2, row, scene.columns, Paint.GROUND)
        .write(scene.columns - 4, text, Paint.ACCENT, 0)
        .write(graph, Paint.DIM);
    return true;
  }

  private static String figures(Scene scene, TimeRange range) {
    Snapshot.Live live = scene.snapshot.live();
    EventsReport.Row events = MeasureWords.shown(scene);
    if (events != null) {
      double mean = TimeStrip.mean(live.events().weights(), live.events().time(), range);
      return MeasureWords.perSecond(events.measure(), mean);
    }
    Snapshot.Host host = live.host();
    double busy = TimeStrip.mean(host.busyCpus(), host.time(), range);
    double waiting = TimeStrip.mean(host.waitingTasks(), host.time(), range);
    return "busy " + TimeStrip.figure(busy) + " cpu, waiting " + TimeStrip.figure(waiting);
  }

  /** The last source that was switched in a range. */
  private static String turned(EventsReport events, TimeRange range) {
    String text = "";
    for (EventsReport.Turn turn : events.turns()) {
      if (turn.time() >= range.from() && turn.time() < range.to()) {
        text = "; " + turn.spec() + " " + turn.to();
      }
    }
    return text;
  }

  /** How far back history is in full, and the memory that keeps it so. */
  private static String kept(Snapshot.Past past) {
    return past.fullNanos() == Long.MAX_VALUE
        ? ""
        : " in full since "
            + Units.span(past.fullNanos())
            + " ("
            + (past.bytes() >> 20)
            + " MiB), sums before ";
  }

  /**
   * The time that the graph shows of a range, and the sums that this time is made of: where only
   * sums are left it may be longer than the range.
   */
  private static String graph(Snapshot.Live live, TimeRange range) {
    TimeRange graph = live.time().graph();
    String text =
        isOf(live, range, NEAR_NANOS)
            ? " the graph shows it "
            : " the graph: from "
                + ago(live.host(), graph.from())
                + " to "
                + ago(live.host(), graph.to())
                + " ago ";
    return live.time().ranged() ? text + sums(live.time().past().stepNanos()) : "";
  }

  /** The sums that a graph is made of; empty if of none. */
  static String sums(long step) {
    return step == 0
        ? ""
        : step == Long.MAX_VALUE
            ? "as one sum of all that is older than an hour "
            : "in sums of " + Units.span(step) + " ";
  }

  /** Whether the graph is of a range, but for some time at its ends. */
  static boolean isOf(Snapshot.Live live, TimeRange range, long nanos) {
    TimeRange graph = live.time().graph();
    long end = Math.min(live.host().time(), range.to());
    return Math.abs(graph.from() - range.from()) < nanos && Math.abs(graph.to() - end) < nanos;
  }

  private static String ago(Snapshot.Host host, long time) {
    long seconds = Math.max(0, host.time() - time) / SECOND;
    return seconds < SECONDS_TOLD ? seconds + " s" : Units.span(seconds * SECOND);
  }
}
