package flametop.view.paint;

import flametop.profile.answer.HeatMap;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.HeatCells;
import flametop.view.layout.Scene;
import flametop.view.layout.TimeStrip;
import flametop.view.layout.WindowWords;
import java.util.Locale;

/**
 * Paints the strip of time as a heat map: each cell is the brighter, the more of the CPUs was busy
 * in that time. Cells outside of a chosen range are dim, and cells whose time is known no better
 * than that of a pass or of a sum; a second of which the history has only a sum is all one.
 */
final class HeatPainter {
  private static final long SECOND = 1_000_000_000L;

  /** Shades where there are no colours. */
  private static final char[] SHADES = {' ', '░', '▒', '▓', '█'};

  /** A cell with less of the CPUs is blank. */
  private static final double LEAST = 0.02;

  /** The colours of the legend. */
  private static final int STEPS = 5;

  /** Ends of the graph that are off by less are not told. */
  private static final long NEAR_NANOS = 10_000_000L;

  private final Scene scene;
  private final CellGrid grid;
  private final HeatCells map;
  private final HeatMap heat;
  private final Snapshot.Live live;
  private final int cpus;

  /** What was before is only sums, ns. */
  private final long summed;

  private HeatPainter(Scene scene, CellGrid grid, HeatCells map) {
    this.scene = scene;
    this.grid = grid;
    this.map = map;
    heat = scene.page instanceof HeatMap page ? page : new HeatMap(0, new HeatMap.Column[0]);
    live = scene.snapshot.live();
    cpus = Math.max(1, live.host().cpus().size());
    long inFull = live.time().past().fullNanos();
    summed = inFull == Long.MAX_VALUE ? Long.MIN_VALUE : live.host().time() - inFull;
  }

  /** Paints the heat map; nothing but its axis until its page has come. */
  static void paint(Scene scene, CellGrid grid, HeatCells map) {
    new HeatPainter(scene, grid, map).paint();
  }

  private void paint() {
    TimeStrip strip = map.strip();
    for (int x = strip.left(); x < strip.left() + strip.columns(); x++) {
      for (int y = map.top(); y < map.top() + map.rows(); y++) {
        int lower = map.lower(y);
        if (map.halves()) {
          int upper = lower + 1 < map.cells() ? ink(x, lower + 1) : Paint.GROUND;
          int under = ink(x, lower);
          grid.put(x, y, upper == under ? ' ' : '▀', upper, under, 0);
        } else if (scene.options.plain()) {
          boolean cursor = isCursor(map.cell(x, lower));
          int ground = cursor ? Paint.of(Role.SELECT) : Paint.GROUND;
          int shade = (int) Math.ceil(shown(map.cell(x, lower)) * (SHADES.length - 1));
          grid.put(x, y, SHADES[shade], cursor ? Paint.INK : Paint.TEXT, ground, 0);
        } else {
          grid.put(x, y, ' ', Paint.TEXT, ink(x, lower), 0);
        }
      }
    }
    axis();
    legend();
  }

  private boolean isCursor(TimeRange cell) {
    return scene.state.time().on() && cell.equals(map.cell(scene.state.time().cursor()));
  }

  /** The time whose busy CPUs a cell shows: its own, or all of its second if that is only a sum. */
  private TimeRange told(TimeRange cell) {
    TimeRange second = map.strip().time(map.strip().number(cell.from()));
    return second.to() <= summed ? second : cell;
  }

  /** The share of the CPUs that a cell shows; 0 where nothing is known, or too little to see. */
  private double shown(TimeRange cell) {
    double share = share(told(cell));
    return cell.from() >= live.host().time() || !(share >= LEAST) ? 0 : Math.min(1, share);
  }

  private double share(TimeRange range) {
    return heat.busy(range) / range.nanos() / cpus;
  }

  private int ink(int x, int number) {
    TimeRange cell = map.cell(x, number);
    if (isCursor(cell)) {
      return Paint.of(Role.SELECT);
    }
    boolean ranged = scene.state.moment().range().isPresent();
    boolean chosen = cell.overlaps(scene.state.moment().range().orElse(live.time().graph()));
    double share = shown(cell);
    if (share == 0) {
      return chosen ? Paint.CHROME : Paint.GROUND;
    }
    int paint = Paint.heat(share);
    return ranged && !chosen || !isSharp(cell) ? Paint.faded(paint) : paint;
  }

  /** Whether most of the time of a cell is known to be in just that cell. */
  private boolean isSharp(TimeRange cell) {
    if (!told(cell).equals(cell)) {
      return false;
    }
    long pass = SECOND / Math.max(1, live.host().passHz());
    return map.nanos() >= pass || heat.loose(cell) <= heat.busy(cell) / 2;
  }

  /** Paints how long before the present the heat map begins, and the parts of a second. */
  private void axis() {
    int room = map.strip().left() - 2;
    int bottom = map.top() + map.rows() - 1;
    grid.text(1, bottom, room, TimePainter.past(map.strip()), Paint.DIM, Paint.GROUND, 0);
    int middle = map.top() + map.rows() / 2;
    for (int y : new int[] {map.top(), middle}) {
      if (y < bottom) {
        long hundredths = Math.max(0, map.lower(y)) * map.nanos() / (SECOND / 100);
        String text = String.format(Locale.ROOT, ".%02d s", hundredths);
        grid.text(1, y, room, text, Paint.DIM, Paint.GROUND, 0);
      }
    }
  }

  /** Paints what cells and colours mean, above the words about the present. */
  private void legend() {
    String colours = " 0 to " + cpus + " cpu";
    words(0).atTheEnd("a row is " + map.nanos() / 1_000_000 + " ms", Paint.DIM);
    if (map.rows() > 2 && STEPS + TextWidth.of(colours) < words(1).room()) {
      int x = scene.columns - 1 - STEPS - TextWidth.of(colours);
      for (int i = 0; i < STEPS; i++) {
        double share = i / (STEPS - 1.0);
        boolean plain = scene.options.plain();
        int ground = plain ? Paint.GROUND : Paint.heat(share);
        grid.put(x + i, map.top() + 1, plain ? SHADES[i] : ' ', Paint.TEXT, ground, 0);
      }
      words(1).atTheEnd(colours, Paint.DIM);
    }
    if (map.rows() > 3 && !scene.options.plain()) {
      words(2).atTheEnd("dim: of a pass or a sum", Paint.DIM);
    }
  }

  /** The words behind a row of the heat map. */
  private Words words(int row) {
    int left = map.strip().left() + map.strip().columns();
    return new Words(grid, left, map.top() + row, scene.columns - 1, Paint.GROUND);
  }

  /** Paints the chosen range, else the cell with the cursor, into the line above the heat map. */
  static void choice(Scene scene, CellGrid grid, int row, HeatCells map) {
    new HeatPainter(scene, grid, map).choice(row);
  }

  private void choice(int row) {
    TimeRange range =
        scene.state.moment().range().orElseGet(() -> map.cell(scene.state.time().cursor()));
    String when = WindowWords.clocks(scene.snapshot, range);
    String ago = ", " + tenths(live.host().time() - range.to()) + " s ago";
    String busy = ": " + busy(range) + " ";
    String graph = graph(range);
    boolean fits = 2 + TextWidth.of(" " + when + ago + busy) + TextWidth.of(graph) <= scene.columns;
    String text = " " + when + (fits ? ago : "") + busy;
    new Words(grid, 2, row, scene.columns, Paint.GROUND)
        .write(scene.columns - 4, text, Paint.ACCENT, 0)
        .write(graph, Paint.DIM);
  }

  private static String tenths(long nanos) {
    return Units.oneDecimal(Math.max(0, nanos) / 1e9);
  }

  private String busy(TimeRange range) {
    TimeRange told = range.nanos() <= map.nanos() ? told(range) : range;
    double share = share(told);
    if (Double.isNaN(share)) {
      return "nothing is known";
    }
    String text = Units.hundredths(share * cpus) + " of " + cpus + " cpu, " + Units.percent(share);
    boolean sharp = range.nanos() > map.nanos() || isSharp(range);
    return sharp ? text : text + (told.equals(range) ? " (by passes)" : " (of its second)");
  }

  /** The time that the graph shows of a range, as in the strip. */
  private String graph(TimeRange range) {
    if (!live.time().ranged() || scene.state.moment().range().isEmpty()) {
      return "";
    }
    String shown = WindowWords.clocks(scene.snapshot, live.time().graph());
    return (TimePainter.isOf(live, range, NEAR_NANOS)
            ? "the graph shows it "
            : "the graph: " + shown + " ")
        + TimePainter.sums(live.time().past().stepNanos());
  }
}
