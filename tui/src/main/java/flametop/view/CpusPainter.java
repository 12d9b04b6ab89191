package flametop.view;

import flametop.profile.CpuReport;
import flametop.profile.CpuRow;
import flametop.profile.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A row for each CPU, below one for all of them or for those that are marked. */
final class CpusPainter implements ViewPainter {
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int ACCENT = Paint.of(Role.ACCENT);

  private static final int MARK = 1;
  private static final int NAME = 7;
  private static final int LONGEST_BAR = 60;

  /** A column: its title, one for little room, and its width in either case. */
  private enum Column {
    BUSY("busy", 8, "busy", 7, CpuTable.Sort.BUSY),
    USER("user", 8, "user", 5, CpuTable.Sort.USER),
    SYSTEM("system", 8, "sys", 4, CpuTable.Sort.SYSTEM),
    IRQ("irq", 8, "irq", 4, CpuTable.Sort.IRQ),
    SOFTIRQ("softirq", 8, "soft", 5, CpuTable.Sort.IRQ),
    STEAL("steal", 8, "steal", 6, null),
    WAITING("waiting", 12, "waiting", 11, CpuTable.Sort.WAITING),
    WAKEUPS("wakes/s", 9, "wakes", 7, CpuTable.Sort.WAKEUPS),
    OWN("own", 7, "own", 6, null),
    FREQUENCY("frequency", 11, "freq", 9, null),
    CYCLES("cycles", 8, "cycles", 7, null);

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

    static int sum(boolean wide) {
      int sum = MARK + NAME;
      for (Column column : ALL) {
        sum += wide ? column.width : column.shortWidth;
      }
      return sum;
    }

    String text(CpuRow row, boolean wide) {
      return switch (this) {
        case BUSY -> Units.percent(row.busy());
        case USER -> share(row.user(), wide);
        case SYSTEM -> share(row.system(), wide);
        case IRQ -> share(row.irq(), wide);
        case SOFTIRQ -> share(row.softirq(), wide);
        case STEAL -> share(row.steal(), wide);
        case WAITING ->
            Double.isNaN(row.waiting()) ? "n/a" : CpuPainter.waiting(row.waiting()).trim();
        case WAKEUPS -> number(row.wakeups());
        case OWN -> number(row.ownWakeups());
        case FREQUENCY -> CpuPainter.frequency(row.frequency());
        case CYCLES -> share(row.utilisation(), wide);
      };
    }

    private static String share(double share, boolean wide) {
      return wide || Double.isNaN(share) ? Units.percent(share) : Units.wholePercent(share);
    }

    private static String number(double n) {
      return Double.isNaN(n) ? "n/a" : String.format(Locale.ROOT, "%,d", Math.round(n));
    }
  }

  /** Rows of the table in sight, without the sum. */
  static int room(Scene scene) {
    return Math.max(1, scene.rows - 2 - tableTop(scene) - 1);
  }

  private static int tableTop(Scene scene, int missing) {
    return scene.rows >= 16 ? 2 + missing : 2;
  }

  private static int tableTop(Scene scene) {
    return tableTop(scene, scene.page instanceof CpuReport report ? missing(report).size() : 0);
  }

  static boolean isHead(Scene scene, int y) {
    return y == tableTop(scene);
  }

  /** Index of the row at a row of the screen; -1 if there is none. */
  static int rowAt(Scene scene, List<CpuRow> rows, int y) {
    int selected = scene.state.cpus().index(rows);
    return Rows.at(y - tableTop(scene) - 2, selected, rows.size(), room(scene));
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
    if (scene.page instanceof CpuReport report) {
      List<String> missing = missing(report);
      int top = tableTop(scene, missing.size());
      for (int y = 1; y < top - 1; y++) {
        grid.text(1, y, scene.columns - 2, missing.get(y - 1), DIM, GROUND, 0);
      }
      String what = report.cpus().size() == 1 ? "1 CPU" : report.cpus().size() + " CPUs";
      String how = "first by " + scene.state.cpus().sort().label() + ", of about a second";
      int x = TableArea.titleOrSteps(scene, grid, top - 1, what, how);
      if (x > 0) {
        legend(scene, grid, top - 1, x + 1);
      }
      table(scene, grid, report, top);
    } else {
      Painter.rule(scene, grid, 1);
      grid.text(1, 2, scene.columns - 2, "measuring…", DIM, GROUND, 0);
    }
    KeyLine.paint(scene, grid);
  }

  /** Why columns are empty. */
  private static List<String> missing(CpuReport report) {
    List<String> missing = new ArrayList<>();
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
    return scene.columns >= Column.sum(true) + 13;
  }

  private static void table(Scene scene, CellGrid grid, CpuReport report, int top) {
    CpuTable table = scene.state.cpus();
    List<CpuRow> rows = table.rows(report);
    Shape shape = scene.state.filter();
    head(scene, grid, top, table);
    String sum = shape.narrowsCpus() ? "marked" : "all";
    row(scene, grid, top + 1, sum, CpuTable.sum(report, shape), false, CellGrid.BOLD);
    int room = room(scene);
    int selected = table.index(rows);
    int first = Rows.first(selected, rows.size(), room);
    for (int i = first; i < Math.min(rows.size(), first + room); i++) {
      CpuRow row = rows.get(i);
      int y = top + 2 + i - first;
      row(scene, grid, y, "CPU" + row.cpu(), row, i == selected, 0);
      if (CpuTable.isMarked(shape, row.cpu())) {
        int bg = i == selected ? Paint.SELECTED_ROW : GROUND;
        grid.put(0, y, scene.options.ascii() ? '*' : '●', ACCENT, bg, CellGrid.BOLD);
      }
    }
  }

  private static void head(Scene scene, CellGrid grid, int y, CpuTable table) {
    boolean wide = wide(scene);
    boolean byNumber = table.sort() == CpuTable.Sort.CPU;
    grid.text(MARK, y, NAME, "CPU", byNumber ? ACCENT : DIM, GROUND, byNumber ? CellGrid.BOLD : 0);
    int x = MARK + NAME;
    for (Column column : Column.ALL) {
      String title = wide ? column.title : column.shortTitle;
      x += wide ? column.width : column.shortWidth;
      if (x > scene.columns) {
        break;
      }
      boolean sorted = column.sort == table.sort();
      int fg = sorted ? ACCENT : DIM;
      grid.text(
          x - title.length(), y, title.length(), title, fg, GROUND, sorted ? CellGrid.BOLD : 0);
      if (column == Column.BUSY && wide) {
        x += bar(scene) + 3;
      }
    }
  }

  private static int bar(Scene scene) {
    return Math.min(LONGEST_BAR, scene.columns - 1 - Column.sum(true) - 3);
  }

  private static void row(
      Scene scene, CellGrid grid, int y, String name, CpuRow row, boolean selected, int attribute) {
    boolean wide = wide(scene);
    int bg = selected ? Paint.SELECTED_ROW : GROUND;
    int fg = selected ? Paint.of(Role.INK) : TEXT;
    grid.fill(0, y, scene.columns, bg);
    grid.text(MARK, y, NAME, name, fg, bg, attribute);
    int x = MARK + NAME;
    for (Column column : Column.ALL) {
      x += wide ? column.width : column.shortWidth;
      if (x > scene.columns) {
        break;
      }
      String text = column.text(row, wide);
      boolean none = text.equals("n/a") || text.equals("0%") || text.equals("0.0%");
      int paint = none && !selected ? DIM : fg;
      boolean bold = column == Column.BUSY;
      grid.text(
          x - text.length(), y, text.length(), text, paint, bg, bold ? CellGrid.BOLD : attribute);
      if (bold && wide) {
        CpuPainter.use(
            scene.options, grid, x + 1, y, bar(scene), row, selected ? bg : Paint.of(Role.CHROME));
        CpuPainter.queue(grid, x + 1 + bar(scene), y, row, bg);
        x += bar(scene) + 3;
      }
    }
  }
}
