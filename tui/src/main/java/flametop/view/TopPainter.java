package flametop.view;

import flametop.profile.Function;
import flametop.profile.NodeKind;
import flametop.profile.Snapshot;
import flametop.profile.TopQuery;
import flametop.profile.TopReport;
import flametop.sampler.State;
import java.util.List;

/** A row for each function: what is spent in it and in what it calls, and in which states. */
final class TopPainter implements ViewPainter {
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int TROUGH = Paint.of(Role.CHROME);

  /** Those with a colour of their own in the bars, in this order; the rest comes last. */
  private static final State[] STATES = {State.RUN, State.QUEUED, State.DISK, State.SLEEP};

  private static final int SHADE = Paint.SHADES / 2;
  private static final int PERCENT = 6;
  private static final int AMOUNT = 12;
  private static final int MOST_NAME = 100;

  private enum Column {
    SELF(TopQuery.Order.SELF),
    TOTAL(TopQuery.Order.TOTAL),
    BAR(TopQuery.Order.TOTAL),
    AMOUNT(TopQuery.Order.TOTAL),
    CPUS(TopQuery.Order.RUN),
    RUN(TopQuery.Order.RUN),
    QUEUED(TopQuery.Order.QUEUED),
    DISK(TopQuery.Order.DISK),
    SLEEP(TopQuery.Order.SLEEP),
    NAME(TopQuery.Order.NAME),
    MODULE(null);

    final TopQuery.Order order;

    Column(TopQuery.Order order) {
      this.order = order;
    }

    static Column of(TopQuery.Order order) {
      return switch (order) {
        case SELF -> SELF;
        case TOTAL -> TOTAL;
        case RUN -> RUN;
        case QUEUED -> QUEUED;
        case DISK -> DISK;
        case SLEEP -> SLEEP;
        case NAME -> NAME;
      };
    }
  }

  private static final Column[] BY_STATE = {Column.RUN, Column.QUEUED, Column.DISK, Column.SLEEP};

  private static Columns<Column> columns(Scene scene) {
    int width = scene.columns;
    boolean file = scene.options.origin() == Origin.FILE;
    Columns<Column> columns = new Columns<>();
    columns.right(Column.SELF, "self", PERCENT).right(Column.TOTAL, "total", PERCENT);
    columns.left(Column.BAR, "", width < 60 ? -1 : width < 100 ? 10 : width < 160 ? 16 : 30);
    columns.right(Column.AMOUNT, unit(scene), !file || width < 70 ? -1 : AMOUNT);
    columns.right(Column.CPUS, "cpus", file || width < 70 ? -1 : 6);
    int states = file || width < 110 ? -1 : PERCENT;
    columns.right(Column.RUN, "run", states).right(Column.QUEUED, "queued", states);
    columns.right(Column.DISK, "disk", states).right(Column.SLEEP, "asleep", states);
    int module = width < 70 ? -1 : width < 110 ? 14 : width < 160 ? 18 : 26;
    int room = width - 1 - columns.end() - (module < 0 ? 0 : module + 1);
    // A wide name is not far from its module.
    columns.left(Column.NAME, "  function", Math.min(MOST_NAME, room));
    return columns.left(Column.MODULE, "module", module);
  }

  /** What a file counts; empty live. */
  private static String unit(Scene scene) {
    Snapshot.Reading reading = scene.snapshot == null ? null : scene.snapshot.reading();
    return reading == null ? "" : reading.unit().equals("us") ? "time" : reading.unit();
  }

  /** The order that the head at a column of the screen stands for; null for none. */
  static TopQuery.Order orderAt(Scene scene, int x) {
    Column column = columns(scene).at(x);
    return column == null ? null : column.order;
  }

  @Override
  public String[][] legend(Scene scene) {
    if (scene.options.origin() == Origin.FILE) {
      return new String[][] {
        {"columns"},
        {"self", "in the function itself"},
        {"total", "also in what it calls"},
        {"bar", "self; faint: total"},
      };
    }
    return new String[][] {
      {"columns"},
      {"self", "in the function itself"},
      {"total", "also in what it calls"},
      {"bar", "self by state; faint: total"},
      {"run, …", "total by state"},
    };
  }

  @Override
  public void paint(Scene scene, CellGrid grid) {
    TableArea area = TableArea.of(scene);
    TopTable table = scene.state.top();
    TopReport report = scene.page instanceof TopReport r ? r : null;
    String by = "first by " + TopTable.label(table.order());
    String title = report == null ? "functions" : title(scene, report);
    boolean file = scene.options.origin() == Origin.FILE;
    area.paint(scene, grid, title, by, file ? null : scene.state.states());
    Columns<Column> columns = columns(scene);
    columns.head(grid, area.head, Column.of(table.order()));
    if (report == null) {
      area.sentence(
          scene, grid, scene.snapshot == null ? GraphPainter.opening(scene) : "counting…");
      return;
    }
    List<TopReport.Row> rows = report.rows();
    if (rows.isEmpty()) {
      area.sentence(scene, grid, nothing(scene, report));
      return;
    }
    int marked = table.index(rows);
    int first = Rows.first(marked, rows.size(), area.room);
    for (int i = first; i < Math.min(rows.size(), first + area.room); i++) {
      row(scene, grid, columns, area.head + 1 + i - first, report, rows.get(i), i == marked);
    }
    detail(scene, grid, area, report, rows.get(marked));
  }

  private static String title(Scene scene, TopReport report) {
    boolean two =
        scene.options.origin() == Origin.FILE && scene.snapshot.graph().baseline() != null;
    String all =
        Units.count(report.functions()) + " functions" + (two ? " of the second file" : "");
    return report.matching() == report.functions()
        ? all
        : Units.count(report.matching()) + " of " + all;
  }

  private static String nothing(Scene scene, TopReport report) {
    return report.functions() > 0
        ? "no function matches; esc shows all " + Units.count(report.functions())
        : scene.snapshot.total() <= 0
            ? GraphPainter.nothing(scene)
            : "nothing of what is shown is a function";
  }

  private static void row(
      Scene scene,
      CellGrid grid,
      Columns<Column> columns,
      int y,
      TopReport report,
      TopReport.Row row,
      boolean marked) {
    int bg = marked ? Paint.SELECTED_ROW : GROUND;
    int fg = marked ? Paint.of(Role.INK) : TEXT;
    int quiet = marked ? fg : DIM;
    if (marked) {
      grid.fill(0, y, scene.columns, bg);
    }
    long all = report.total();
    share(grid, columns, Column.SELF, y, row.self(), all, fg, quiet, bg);
    share(grid, columns, Column.TOTAL, y, row.total(), all, fg, quiet, bg);
    int bar = columns.width(Column.BAR);
    if (bar > 0) {
      bar(scene, grid, columns.x(Column.BAR), y, bar, row, all, marked ? bg : TROUGH);
    }
    Snapshot.Reading reading = scene.snapshot.reading();
    if (reading != null) {
      String amount = FileHeader.figure(row.total(), reading.unit());
      columns.put(grid, Column.AMOUNT, y, amount, fg, bg, 0);
    }
    long[] total = row.totalByState();
    String cpus = Units.hundredths(worth(scene, total[State.RUN.ordinal()]));
    columns.put(grid, Column.CPUS, y, cpus, cpus.equals("0.00") ? quiet : fg, bg, 0);
    for (int i = 0; i < STATES.length; i++) {
      if (scene.state.states().contains(STATES[i])) {
        share(grid, columns, BY_STATE[i], y, total[STATES[i].ordinal()], all, fg, quiet, bg);
      } else {
        columns.put(grid, BY_STATE[i], y, "·", quiet, bg, 0);
      }
    }
    name(grid, columns.x(Column.NAME), y, columns.width(Column.NAME), row.function(), fg, bg);
    String module = row.function().module();
    int room = columns.width(Column.MODULE);
    if (room > 0 && !module.isEmpty()) {
      columns.put(grid, Column.MODULE, y, ShortName.of(module, room), quiet, bg, 0);
    }
  }

  private static double worth(Scene scene, long run) {
    Snapshot snapshot = scene.snapshot;
    return snapshot == null || snapshot.windowNanos() <= 0
        ? 0
        : (double) run / snapshot.windowNanos();
  }

  private static void share(
      CellGrid grid,
      Columns<Column> columns,
      Column column,
      int y,
      long part,
      long whole,
      int fg,
      int quiet,
      int bg) {
    if (columns.width(column) > 0) {
      String text = Units.tenths(whole <= 0 ? 0 : (double) part / whole);
      columns.put(grid, column, y, text, text.equals("0.0%") ? quiet : fg, bg, 0);
    }
  }

  /** A bar of the colour of its kind, then what is left of the name in the room. */
  static void name(CellGrid grid, int x, int y, int width, Function function, int fg, int bg) {
    grid.put(x, y, '▌', paint(function), bg, 0);
    String name = function.name();
    String text = GraphPainter.isFrame(function.kind()) ? ShortName.form(name, width - 2) : name;
    grid.text(x + 2, y, width - 2, text, fg, bg, 0);
  }

  static int paint(Function function) {
    return Paint.of(Role.of(function.kind()), Paint.shade(function.name()));
  }

  /** What is spent in it by state, then what is spent in what it calls, faint. */
  private static void bar(
      Scene scene,
      CellGrid grid,
      int x,
      int y,
      int width,
      TopReport.Row row,
      long all,
      int trough) {
    int n = STATES.length;
    boolean stateless = scene.options.plain() || scene.options.origin() == Origin.FILE;
    double[] parts = new double[stateless ? 2 : 2 * n + 1];
    int[] paints = new int[parts.length];
    double whole = Math.max(1, all);
    if (stateless) {
      parts[0] = row.self() / whole;
      parts[1] = (row.total() - row.self()) / whole;
      paints[0] = paint(row.function());
      paints[1] = Paint.faded(paints[0]);
    } else {
      for (int i = 0; i < n; i++) {
        State state = STATES[i];
        boolean shown = scene.state.states().contains(state);
        long self = shown ? Math.max(0, row.selfByState()[state.ordinal()]) : 0;
        long total = shown ? row.totalByState()[state.ordinal()] : 0;
        parts[i] = self / whole;
        parts[n + i] = Math.max(0, total - self) / whole;
        paints[i] = Paint.of(Role.of(state), SHADE);
        paints[n + i] = Paint.faded(paints[i]);
      }
      double sum = 0;
      for (double part : parts) {
        sum += part;
      }
      parts[2 * n] = Math.max(0, row.total() / whole - sum);
      paints[2 * n] = Paint.faded(DIM);
    }
    Bar.paint(grid, x, y, width, parts, paints, trough, scene.options);
  }

  private static void detail(
      Scene scene, CellGrid grid, TableArea area, TopReport report, TopReport.Row row) {
    Function function = row.function();
    long[] total = row.totalByState();
    long whole = 0;
    for (long nanos : total) {
      whole += nanos;
    }
    StringBuilder states = new StringBuilder();
    for (State state : STATES) {
      states.append(states.length() == 0 ? "" : "  ").append(state.label()).append(' ');
      states
          .append(whole <= 0 ? 0 : Math.round(100.0 * total[state.ordinal()] / whole))
          .append('%');
    }
    String figures =
        "self "
            + Units.share(row.self(), report.total())
            + ", total "
            + Units.share(row.total(), report.total())
            + " of all";
    String cpus =
        Units.hundredths(worth(scene, row.selfByState()[State.RUN.ordinal()]))
            + " cpu itself, "
            + Units.hundredths(worth(scene, total[State.RUN.ordinal()]))
            + " in all";
    if (area.detailRows == 1) {
      area.detail(scene, grid, 0, function.name(), List.of(function.module()));
      return;
    }
    area.detail(scene, grid, 0, function.name(), List.of());
    String from = function.module().isEmpty() ? kind(function.kind()) : function.module();
    Snapshot.Reading reading = scene.snapshot.reading();
    if (reading != null) {
      String unit = reading.unit();
      String amounts =
          FileHeader.amount(row.self(), unit)
              + " itself, "
              + FileHeader.figure(row.total(), unit)
              + " in all";
      area.detail(scene, grid, 1, from, List.of(figures, amounts));
      return;
    }
    area.detail(scene, grid, 1, from, List.of(figures, states.toString(), cpus));
  }

  private static String kind(NodeKind kind) {
    return switch (kind) {
      case KERNEL -> "kernel";
      case JIT -> "made at run time";
      case REASON -> "what stands for the missing part of stacks";
      case UNKNOWN -> "without a name";
      default -> "no module";
    };
  }
}
