package flametop.view.paint;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow.IdleRow;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.Units;
import flametop.view.layout.Columns;
import flametop.view.layout.Heading;
import flametop.view.layout.IdleLayout;
import flametop.view.layout.IdleLayout.Column;
import flametop.view.layout.IdleLayout.Line;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import java.util.Locale;

/** The idle states: those of all CPUs together first, then of each CPU. */
public final class IdlePainter implements ViewPainter {
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int ACCENT = Paint.of(Role.ACCENT);

  @Override
  public void paint(Scene scene, CellGrid grid) {
    for (int y = 1; y < scene.rows; y++) {
      grid.fill(0, y, scene.columns, GROUND);
    }
    IdleLayout layout = IdleLayout.of(scene);
    Heading heading = layout.table().heading();
    String how = "as requested: hardware may choose others; of about a second";
    HeadingPainter.paint(heading, scene, grid, "idle states", how);
    if (scene.page instanceof CpuReport) {
      table(scene, grid, layout);
    } else {
      grid.text(1, heading.end, scene.columns - 2, "measuring…", DIM, GROUND, 0);
    }
    KeyLinePainter.paint(scene, grid);
  }

  private static void table(Scene scene, CellGrid grid, IdleLayout layout) {
    TableLayout<Column> table = layout.table();
    table.columns().head(grid, table.head(), null);
    for (int i = layout.top(); i < layout.end(); i++) {
      int y = table.top() + i - layout.top();
      row(scene, grid, table.columns(), y, layout.lines().get(i), i == layout.top());
    }
  }

  private static void row(
      Scene scene, CellGrid grid, Columns<Column> columns, int y, Line line, boolean first) {
    IdleRow state = line.state();
    int attribute = line.sum() ? CellGrid.BOLD : 0;
    // What stands for the rows above is said again where they are out of sight.
    if (line.at() == 0 || first) {
      columns.put(grid, Column.CPU, y, line.cpu(), line.sum() ? ACCENT : TEXT, GROUND, attribute);
    }
    columns.put(grid, Column.STATE, y, state.name(), TEXT, GROUND, attribute);
    boolean known = state.targetMicros() >= 0;
    String latency = known ? micros(state.exitLatencyMicros()) : "n/a";
    figure(grid, columns, Column.LATENCY, y, latency, attribute);
    String target = known ? micros(state.targetMicros()) : "n/a";
    figure(grid, columns, Column.TARGET, y, target, attribute);
    figure(grid, columns, Column.ENTRIES, y, entries(state.entries() * line.cpus()), attribute);
    figure(grid, columns, Column.STAY, y, stay(state), attribute);
    figure(grid, columns, Column.RESIDENCY, y, Units.percent(state.residency()), CellGrid.BOLD);
    int bar = columns.width(Column.BAR);
    if (bar > 0) {
      int[] paints = {CpuPanelPainter.depth(line.at(), line.of())};
      double[] parts = {state.residency()};
      int trough = Paint.of(Role.CHROME);
      Bar.paint(grid, columns.x(Column.BAR), y, bar, parts, paints, trough, scene.options);
    }
    // Nothing is too short for a state that pays at once, nor too long for the deepest one.
    String tooShort = state.targetMicros() == 0 ? "·" : share(state.tooShort(), state.entries());
    String tooLong =
        known && line.at() == line.of() - 1 ? "·" : share(state.tooLong(), state.entries());
    wrong(grid, columns, Column.SHORT, y, tooShort, state.tooShort());
    wrong(grid, columns, Column.LONG, y, tooLong, state.tooLong());
  }

  private static void figure(
      CellGrid grid, Columns<Column> columns, Column column, int y, String text, int attribute) {
    boolean none = text.equals("n/a") || text.equals("0.0%") || text.equals("0");
    columns.put(grid, column, y, text, none ? DIM : TEXT, GROUND, attribute);
  }

  private static void wrong(
      CellGrid grid, Columns<Column> columns, Column column, int y, String text, double share) {
    boolean quiet = text.equals("·") || text.equals("n/a") || !(share >= 0.1);
    columns.put(grid, column, y, text, quiet ? DIM : Paint.of(Role.WORSE), GROUND, 0);
  }

  private static String share(double share, double entries) {
    return entries > 0 && !Double.isNaN(share) ? Units.wholePercent(share) : "n/a";
  }

  private static String entries(double entries) {
    return Double.isNaN(entries)
        ? "n/a"
        : entries > 0 && entries < 10
            ? String.format(Locale.ROOT, "%.1f", entries)
            : String.format(Locale.ROOT, "%,d", Math.round(entries));
  }

  /** Where no stay ended, the open one is longer than what is looked at. */
  private static String stay(IdleRow state) {
    double nanos = state.meanStay();
    if (Double.isNaN(nanos)) {
      return state.residency() > 0.5 ? "> 1 s" : "n/a";
    }
    return nanos < 1e4
        ? String.format(Locale.ROOT, "%.1f µs", nanos / 1e3)
        : nanos < 1e6
            ? String.format(Locale.ROOT, "%.0f µs", nanos / 1e3)
            : nanos < 1e9
                ? String.format(Locale.ROOT, "%.1f ms", nanos / 1e6)
                : String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
  }

  private static String micros(long micros) {
    return micros < 10_000 ? micros + " µs" : String.format(Locale.ROOT, "%.1f ms", micros / 1e3);
  }
}
