package flametop.view.layout;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.view.state.CpusTable;
import java.util.ArrayList;
import java.util.List;

/** Where the table of CPUs stands: below its heads is a row for the sum. */
public final class CpusLayout {
  private static final int NAME = 6;
  private static final int LEAST_BAR = 12;

  /** Behind a bar: those that wait, and a cell. */
  public static final int QUEUE = 2;

  private static final int LONGEST_BAR = 60;

  private CpusLayout() {}

  /** A column: its title, one for little room, and its width in either case. */
  public enum Column {
    CPU("CPU", NAME, "CPU", NAME, CpusTable.Sort.CPU),
    BUSY("busy", 7, "busy", 6, CpusTable.Sort.BUSY),
    BAR("", 0, "", -1, CpusTable.Sort.BUSY),
    USER("user", 7, "user", 4, CpusTable.Sort.USER),
    SYSTEM("system", 7, "sys", 4, CpusTable.Sort.SYSTEM),
    IRQ("irq", 7, "irq", 4, CpusTable.Sort.IRQ),
    SOFTIRQ("softirq", 7, "soft", 4, CpusTable.Sort.SOFTIRQ),
    STEAL("steal", 7, "steal", 5, CpusTable.Sort.STEAL),
    WAITING("waiting", 11, "waiting", 10, CpusTable.Sort.WAITING),
    WAKEUPS("wakes/s", 8, "wakes", 6, CpusTable.Sort.WAKEUPS),
    OWN("own", 6, "own", 5, CpusTable.Sort.OWN),
    FREQUENCY("frequency", 10, "freq", 8, CpusTable.Sort.FREQUENCY),
    CYCLES("cycles", 7, "cycles", 6, CpusTable.Sort.CYCLES);

    private static final Column[] ALL = values();

    final String title;
    public final int width;
    final String shortTitle;
    public final int shortWidth;
    public final CpusTable.Sort sort;

    Column(String title, int width, String shortTitle, int shortWidth, CpusTable.Sort sort) {
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

    public static Column of(CpusTable.Sort sort) {
      for (Column column : ALL) {
        if (column.sort == sort) {
          return column;
        }
      }
      return null;
    }
  }

  public static TableLayout<Column> of(Scene scene) {
    List<CpuRow> rows =
        scene.page instanceof CpuReport report ? scene.state.cpus().rows(report) : List.of();
    Heading heading = Heading.of(scene, missing(scene));
    int marked = scene.state.cpus().index(rows);
    return TableLayout.around(
        heading, columns(scene), heading.end + 2, scene.rows - 1, marked, rows.size());
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

  /** Whether the bars and long titles have room. */
  public static boolean isWide(Scene scene) {
    return scene.columns >= Column.sum() + LEAST_BAR;
  }

  private static Columns<Column> columns(Scene scene) {
    boolean wide = isWide(scene);
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
}
