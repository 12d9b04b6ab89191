package flametop.view.paint;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.Shape;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.Units;
import flametop.view.base.Zone;
import flametop.view.layout.Columns;
import flametop.view.layout.CpusLayout;
import flametop.view.layout.CpusLayout.Column;
import flametop.view.layout.Heading;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import flametop.view.state.CpusTable;
import java.util.List;
import java.util.Locale;

/** A row for each CPU, below one for all of them or for those that are marked. */
public final class CpusPainter implements ViewPainter {
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int ACCENT = Paint.of(Role.ACCENT);

  @Override
  public void paint(Scene scene, CellGrid grid) {
    for (int y = 1; y < scene.rows; y++) {
      grid.fill(0, y, scene.columns, GROUND);
    }
    TableLayout<Column> layout = CpusLayout.of(scene);
    Heading heading = layout.heading();
    CpuReport report = scene.page instanceof CpuReport r ? r : null;
    int cpus = report == null ? 0 : report.cpus().size();
    String what = cpus == 0 ? "CPUs" : cpus == 1 ? "1 CPU" : cpus + " CPUs";
    String how = "first by " + scene.state.cpus().sort().label() + ", of about a second";
    int x = HeadingPainter.paint(heading, scene, grid, what, how);
    if (x > 0) {
      legend(scene, grid, heading.title, x + 1);
    }
    if (report == null) {
      grid.text(1, heading.end, scene.columns - 2, "measuring…", DIM, GROUND, 0);
    } else {
      table(scene, grid, report, layout);
    }
    KeyLinePainter.paint(scene, grid);
  }

  /** The colours of the bars. */
  private static void legend(Scene scene, CellGrid grid, int row, int from) {
    if (!CpusLayout.isWide(scene) || scene.options.plain()) {
      return;
    }
    String[] names = {"user", "system", "irq", "softirq", "steal", "waiting"};
    int[] paints = {
      CpuPanelPainter.USER,
      CpuPanelPainter.SYSTEM,
      CpuPanelPainter.IRQ,
      CpuPanelPainter.SOFTIRQ,
      CpuPanelPainter.STEAL,
      CpuPanelPainter.WAITING
    };
    int width = -1;
    for (String name : names) {
      width += name.length() + 4;
    }
    int x = scene.columns - width;
    if (x < from) {
      return;
    }
    grid.fill(x - 1, row, width + 2, GROUND);
    for (int i = 0; i < names.length; i++) {
      grid.put(x, row, '■', paints[i], GROUND, 0);
      x += 2 + grid.text(x + 2, row, names[i].length(), names[i], DIM, GROUND, 0) + 2;
    }
  }

  private static void table(
      Scene scene, CellGrid grid, CpuReport report, TableLayout<Column> layout) {
    CpusTable table = scene.state.cpus();
    List<CpuRow> rows = table.rows(report);
    Shape shape = scene.state.chosenShape();
    Columns<Column> columns = layout.columns();
    columns.head(grid, layout.head(), Column.of(table.sort()));
    String name = shape.narrowsCpus() ? "marked" : "all";
    CpuRow sum = CpusTable.sum(report, shape);
    row(scene, grid, columns, layout.head() + 1, name, sum, false, CellGrid.BOLD);
    for (Zone<Integer> zone : layout.rows(scene.columns)) {
      int i = zone.what();
      CpuRow row = rows.get(i);
      int y = zone.y();
      boolean isMarked = i == layout.marked();
      row(scene, grid, columns, y, "CPU" + row.cpu(), row, isMarked, 0);
      if (CpusTable.isMarked(shape, row.cpu())) {
        int bg = isMarked ? Paint.SELECTED_ROW : GROUND;
        grid.put(0, y, scene.options.ascii() ? '*' : '●', ACCENT, bg, CellGrid.BOLD);
      }
    }
  }

  private static void row(
      Scene scene,
      CellGrid grid,
      Columns<Column> columns,
      int y,
      String name,
      CpuRow row,
      boolean selected,
      int attribute) {
    boolean wide = CpusLayout.isWide(scene);
    int bg = selected ? Paint.SELECTED_ROW : GROUND;
    int fg = selected ? Paint.of(Role.INK) : TEXT;
    grid.fill(0, y, scene.columns, bg);
    columns.put(grid, Column.CPU, y, name, fg, bg, attribute);
    int bar = columns.width(Column.BAR) - CpusLayout.QUEUE;
    if (bar > 0) {
      CpuPanelPainter.use(
          scene.options,
          grid,
          columns.x(Column.BAR),
          y,
          bar,
          row,
          selected ? bg : Paint.of(Role.CHROME));
      CpuPanelPainter.queue(grid, columns.x(Column.BAR) + bar, y, row, bg);
    }
    for (Column column : Column.values()) {
      String text = text(column, row, wide);
      boolean none = text.equals("n/a") || text.equals("0%") || text.equals("0.0%");
      int paint = none && !selected ? DIM : fg;
      int bold = column == Column.BUSY ? CellGrid.BOLD : attribute;
      columns.put(grid, column, y, text, paint, bg, bold);
    }
  }

  private static String text(Column column, CpuRow row, boolean wide) {
    int room = wide ? column.width : column.shortWidth;
    return switch (column) {
      case CPU, BAR -> "";
      case BUSY -> Units.percent(row.busy());
      case USER -> share(row.user(), wide);
      case SYSTEM -> share(row.system(), wide);
      case IRQ -> share(row.irq(), wide);
      case SOFTIRQ -> share(row.softirq(), wide);
      case STEAL -> share(row.steal(), wide);
      case WAITING ->
          Double.isNaN(row.waiting()) ? "n/a" : CpuPanelPainter.waiting(row.waiting()).trim();
      case WAKEUPS -> number(row.wakeups(), room);
      case OWN -> number(row.ownWakeups(), room);
      case FREQUENCY -> CpuPanelPainter.frequency(row.frequency());
      case CYCLES -> share(row.utilisation(), wide);
    };
  }

  private static String share(double share, boolean wide) {
    return wide || Double.isNaN(share) ? Units.percent(share) : Units.wholePercent(share);
  }

  /** In thousands where it would not fit: that of hundreds of CPUs. */
  private static String number(double n, int room) {
    String text = Double.isNaN(n) ? "n/a" : String.format(Locale.ROOT, "%,d", Math.round(n));
    return text.length() <= room ? text : Math.round(n / 1000) + "k";
  }
}
