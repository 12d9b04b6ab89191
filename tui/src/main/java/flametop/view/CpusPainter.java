package flametop.view;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A row for each CPU, below one for all of them or for those that are marked. */
final class CpusPainter implements ViewPainter {
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int ACCENT = Paint.of(Role.ACCENT);

  private static final int NAME = 6;
  private static final int LEAST_BAR = 12;

  /** Behind a bar: those that wait, and a cell. */
  private static final int QUEUE = 2;

  private static final int LONGEST_BAR = 60;

  /** A column: its title, one for little room, and its width in either case. */
  private enum Column {
    CPU("CPU", NAME, "CPU", NAME, CpuTable.Sort.CPU),
    BUSY("busy", 7, "busy", 6, CpuTable.Sort.BUSY),
    BAR("", 0, "", -1, CpuTable.Sort.BUSY),
    USER("user", 7, "user", 4, CpuTable.Sort.USER),
    SYSTEM("system", 7, "sys", 4, CpuTable.Sort.SYSTEM),
    IRQ("irq", 7, "irq", 4, CpuTable.Sort.IRQ),
    SOFTIRQ("softirq", 7, "soft", 4, CpuTable.Sort.SOFTIRQ),
    STEAL("steal", 7, "steal", 5, CpuTable.Sort.STEAL),
    WAITING("waiting", 11, "waiting", 10, CpuTable.Sort.WAITING),
    WAKEUPS("wakes/s", 8, "wakes", 6, CpuTable.Sort.WAKEUPS),
    OWN("own", 6, "own", 5, CpuTable.Sort.OWN),
    FREQUENCY("frequency", 10, "freq", 8, CpuTable.Sort.FREQUENCY),
    CYCLES("cycles", 7, "cycles", 6, CpuTable.Sort.CYCLES);

    static final Column[] ALL = values();

    final String title;
    final int width;
    final String shortTitle;
    final int shortWidth;
    final CpuTable.Sort sort;

    Column(String title, int width, String shortTitle, int shortWidth, CpuTable.Sort sort) {
      this.title = title;
      this.width = width;
      this.shortTitle = shortTitle;
      this.shortWidth = shortWidth;
      this.sort = sort;
    }

    /** Cells of all of them where there is room, but for the bar. */
    static int sum() {
      int sum = 1;
      for (Column column : ALL) {
        sum += column.width + 1;
      }
      return sum;
    }

    static Column of(CpuTable.Sort sort) {
      for (Column column : ALL) {
        if (column.sort == sort) {
          return column;
        }
      }
      return null;
    }

    String text(CpuRow row, boolean wide) {
      int room = wide ? width : shortWidth;
      return switch (this) {
        case CPU, BAR -> "";
        case BUSY -> Units.percent(row.busy());
        case USER -> share(row.user(), wide);
        case SYSTEM -> share(row.system(), wide);
        case IRQ -> share(row.irq(), wide);
        case SOFTIRQ -> share(row.softirq(), wide);
        case STEAL -> share(row.steal(), wide);
        case WAITING ->
            Double.isNaN(row.waiting()) ? "n/a" : CpuPainter.waiting(row.waiting()).trim();
        case WAKEUPS -> number(row.wakeups(), room);
        case OWN -> number(row.ownWakeups(), room);
        case FREQUENCY -> CpuPainter.frequency(row.frequency());
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

  /** Rows of the table in sight, without the sum. */
  static int room(Scene scene) {
    return Math.max(1, scene.rows - 2 - heading(scene).end - 1);
  }

  /** What stands above the table. */
  static Heading heading(Scene scene) {
    return Heading.of(scene, missing(scene));
  }

  static boolean isHead(Scene scene, int y) {
    return y == heading(scene).end;
  }

  /** The order that the head at a column of the screen stands for; null for none. */
  static CpuTable.Sort orderAt(Scene scene, int x) {
    Column column = columns(scene).at(x);
    return column == null ? null : column.sort;
  }

  /** Index of the row at a row of the screen; -1 if there is none. */
  static int rowAt(Scene scene, List<CpuRow> rows, int y) {
    int selected = scene.state.cpus().index(rows);
    return Rows.at(y - heading(scene).end - 2, selected, rows.size(), room(scene));
  }

  @Override
  public String[][] legend(Scene scene) {
    return new String[][] {
      {"columns"},
      {"waiting", "tasks, for this CPU"},
      {"own", "wakes by flametop's clock"},
      {"cycles", "run, of those that passed"},
    };
  }

  @Override
  public void paint(Scene scene, CellGrid grid) {
    for (int y = 1; y < scene.rows; y++) {
      grid.fill(0, y, scene.columns, GROUND);
    }
    Heading heading = heading(scene);
    CpuReport report = scene.page instanceof CpuReport r ? r : null;
    int cpus = report == null ? 0 : report.cpus().size();
    String what = cpus == 0 ? "CPUs" : cpus == 1 ? "1 CPU" : cpus + " CPUs";
    String how = "first by " + scene.state.cpus().sort().label() + ", of about a second";
    int x = heading.paint(scene, grid, what, how);
    if (x > 0) {
      legend(scene, grid, heading.title, x + 1);
    }
    if (report == null) {
      grid.text(1, heading.end, scene.columns - 2, "measuring…", DIM, GROUND, 0);
    } else {
      table(scene, grid, report, heading.end);
    }
    KeyLine.paint(scene, grid);
  }

  /** Why columns are empty. */
  private static List<String> missing(Scene scene) {
    List<String> missing = new ArrayList<>();
    if (scene.rows < 16 || !(scene.page instanceof CpuReport report)) {
      return missing;
    }
    if (!report.noFrequency().isEmpty()) {
      missing.add(report.noFrequency());
    }
    if (!report.noCycles().isEmpty()) {
      missing.add(report.noCycles());
    } else if (!report.noFrequency().isEmpty()) {
      missing.add("no share of cycles: it needs the frequency");
    }
    return missing;
  }

  /** The colours of the bars. */
  private static void legend(Scene scene, CellGrid grid, int row, int from) {
    if (!wide(scene) || scene.options.plain()) {
      return;
    }
    String[] names = {"user", "system", "irq", "softirq", "steal", "waiting"};
    int[] paints = {
      CpuPainter.USER,
      CpuPainter.SYSTEM,
      CpuPainter.IRQ,
      CpuPainter.SOFTIRQ,
      CpuPainter.STEAL,
      CpuPainter.WAITING
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

  private static boolean wide(Scene scene) {
    return scene.columns >= Column.sum() + LEAST_BAR;
  }

  private static void table(Scene scene, CellGrid grid, CpuReport report, int top) {
    CpuTable table = scene.state.cpus();
    List<CpuRow> rows = table.rows(report);
    Shape shape = scene.state.chosenShape();
    Columns<Column> columns = columns(scene);
    columns.head(grid, top, Column.of(table.sort()));
    String sum = shape.narrowsCpus() ? "marked" : "all";
    row(scene, grid, columns, top + 1, sum, CpuTable.sum(report, shape), false, CellGrid.BOLD);
    int room = room(scene);
    int selected = table.index(rows);
    int first = Rows.first(selected, rows.size(), room);
    for (int i = first; i < Math.min(rows.size(), first + room); i++) {
      CpuRow row = rows.get(i);
      int y = top + 2 + i - first;
      row(scene, grid, columns, y, "CPU" + row.cpu(), row, i == selected, 0);
      if (CpuTable.isMarked(shape, row.cpu())) {
        int bg = i == selected ? Paint.SELECTED_ROW : GROUND;
        grid.put(0, y, scene.options.ascii() ? '*' : '●', ACCENT, bg, CellGrid.BOLD);
      }
    }
  }

  private static Columns<Column> columns(Scene scene) {
    boolean wide = wide(scene);
    Columns<Column> columns = new Columns<>(scene.columns);
    int bar = Math.min(LONGEST_BAR, scene.columns - 1 - Column.sum()) + QUEUE;
    for (Column column : Column.ALL) {
      String title = wide ? column.title : column.shortTitle;
      int width = wide ? column.width : column.shortWidth;
      if (column == Column.CPU || column == Column.BAR) {
        columns.left(column, title, column == Column.BAR && wide ? bar : width);
      } else {
        columns.right(column, title, width);
      }
    }
    return columns;
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
    boolean wide = wide(scene);
    int bg = selected ? Paint.SELECTED_ROW : GROUND;
    int fg = selected ? Paint.of(Role.INK) : TEXT;
    grid.fill(0, y, scene.columns, bg);
    columns.put(grid, Column.CPU, y, name, fg, bg, attribute);
    int bar = columns.width(Column.BAR) - QUEUE;
    if (bar > 0) {
      CpuPainter.use(
          scene.options,
          grid,
          columns.x(Column.BAR),
          y,
          bar,
          row,
          selected ? bg : Paint.of(Role.CHROME));
      CpuPainter.queue(grid, columns.x(Column.BAR) + bar, y, row, bg);
    }
    for (Column column : Column.ALL) {
      String text = column.text(row, wide);
      boolean none = text.equals("n/a") || text.equals("0%") || text.equals("0.0%");
      int paint = none && !selected ? DIM : fg;
      int bold = column == Column.BUSY ? CellGrid.BOLD : attribute;
      columns.put(grid, column, y, text, paint, bg, bold);
    }
  }
}
