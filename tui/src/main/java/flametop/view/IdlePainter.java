package flametop.view;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.CpuRow.IdleRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The idle states: those of all CPUs together first, then of each CPU. */
final class IdlePainter implements ViewPainter {
  private static final int GROUND = Paint.of(Role.GROUND);
  private static final int TEXT = Paint.of(Role.TEXT);
  private static final int DIM = Paint.of(Role.DIM);
  private static final int ACCENT = Paint.of(Role.ACCENT);

  private static final String ALL = "all";
  private static final int CPU = 6;

  private enum Column {
    CPU("CPU"),
    STATE("state"),
    LATENCY("latency"),
    TARGET("target"),
    ENTRIES("entries/s"),
    STAY("mean stay"),
    RESIDENCY("residency"),
    BAR(""),
    SHORT("too short"),
    LONG("long");

    final String title;

    Column(String title) {
      this.title = title;
    }
  }

  private static final int LEAST_NAME = 9;
  private static final int LONGEST_NAME = 16;

  /** All but the name and the bar. */
  private static final int FIXED = 1 + 7 + 8 + 8 + 10 + 10 + 10 + 10 + 6;

  private static final int LEAST_BAR = 8;
  private static final int SMALL = 60;
  private static final int LONGEST_BAR = 80;

  /**
   * One row.
   *
   * @param cpu whose it is
   * @param at place of the state among those of the CPU, from the shallowest
   * @param of how many states the CPU has
   * @param cpus that are summed up in it: the state's figures are the mean of theirs
   */
  private record Line(String cpu, IdleRow state, int at, int of, int cpus) {
    boolean sum() {
      return cpu.equals(ALL);
    }
  }

  /** Rows of the table in sight. */
  static int room(Scene scene) {
    return Math.max(1, scene.rows - 2 - heading(scene).end);
  }

  /** The first row in sight. */
  static int top(Scene scene) {
    return Math.max(0, Math.min(scene.state.cpus().idleTop(), lowestTop(scene)));
  }

  static int lowestTop(Scene scene) {
    return scene.page instanceof CpuReport report
        ? Math.max(0, lines(report).size() - room(scene))
        : 0;
  }

  /** What stands above the table. */
  static Heading heading(Scene scene) {
    return Heading.of(scene, why(scene));
  }

  /** Why there are no idle states, in lines; in a low window they have no room. */
  private static List<String> why(Scene scene) {
    return scene.rows >= 16
            && scene.page instanceof CpuReport report
            && !report.noIdleStates().isEmpty()
        ? List.of(report.noIdleStates().split("; ", -1))
        : List.of();
  }

  @Override
  public String[][] legend(Scene scene) {
    return new String[][] {
      {"columns"},
      {"latency", "to leave the state"},
      {"target", "shortest stay that pays"},
      {"too short", "stays below the target"},
      {"long", "a deeper one would have paid"},
    };
  }

  @Override
  public void paint(Scene scene, CellGrid grid) {
    for (int y = 1; y < scene.rows; y++) {
      grid.fill(0, y, scene.columns, GROUND);
    }
    Heading heading = heading(scene);
    String how = "as requested: hardware may choose others; of about a second";
    heading.paint(scene, grid, "idle states", how);
    if (scene.page instanceof CpuReport report) {
      table(scene, grid, report, heading.end);
    } else {
      grid.text(1, heading.end, scene.columns - 2, "measuring…", DIM, GROUND, 0);
    }
    KeyLine.paint(scene, grid);
  }

  private static Columns<Column> columns(Scene scene) {
    int room = scene.columns - 1 - FIXED;
    int name = Math.max(LEAST_NAME, Math.min(LONGEST_NAME, room));
    int bar = Math.min(LONGEST_BAR, room - name - 1);
    Columns<Column> columns = new Columns<>(scene.columns);
    columns.left(Column.CPU, Column.CPU.title, CPU);
    columns.left(Column.STATE, Column.STATE.title, name - 1);
    // In little room what is not known beforehand.
    boolean small = scene.columns < SMALL;
    columns.right(Column.LATENCY, Column.LATENCY.title, small ? -1 : 7);
    columns.right(Column.TARGET, Column.TARGET.title, small ? -1 : 7);
    columns.right(Column.ENTRIES, Column.ENTRIES.title, small ? -1 : 9);
    columns.right(Column.STAY, Column.STAY.title, small ? -1 : 9);
    columns.right(Column.RESIDENCY, Column.RESIDENCY.title, 9);
    columns.left(Column.BAR, Column.BAR.title, bar < LEAST_BAR ? -1 : bar);
    columns.right(Column.SHORT, Column.SHORT.title, 9);
    return columns.right(Column.LONG, Column.LONG.title, 6);
  }

  private static void table(Scene scene, CellGrid grid, CpuReport report, int top) {
    Columns<Column> columns = columns(scene);
    columns.head(grid, top, null);
    List<Line> lines = lines(report);
    int first = top(scene);
    for (int i = first; i < Math.min(lines.size(), first + room(scene)); i++) {
      row(scene, grid, columns, top + 1 + i - first, lines.get(i), i == first);
    }
  }

  private static void row(
      Scene scene, CellGrid grid, Columns<Column> columns, int y, Line line, boolean first) {
    IdleRow state = line.state;
    int attribute = line.sum() ? CellGrid.BOLD : 0;
    // What stands for the rows above is said again where they are out of sight.
    if (line.at == 0 || first) {
      columns.put(grid, Column.CPU, y, line.cpu, line.sum() ? ACCENT : TEXT, GROUND, attribute);
    }
    columns.put(grid, Column.STATE, y, state.name(), TEXT, GROUND, attribute);
    boolean known = state.targetMicros() >= 0;
    String latency = known ? micros(state.exitLatencyMicros()) : "n/a";
    figure(grid, columns, Column.LATENCY, y, latency, attribute);
    String target = known ? micros(state.targetMicros()) : "n/a";
    figure(grid, columns, Column.TARGET, y, target, attribute);
    figure(grid, columns, Column.ENTRIES, y, entries(state.entries() * line.cpus), attribute);
    figure(grid, columns, Column.STAY, y, stay(state), attribute);
    figure(grid, columns, Column.RESIDENCY, y, Units.percent(state.residency()), CellGrid.BOLD);
    int bar = columns.width(Column.BAR);
    if (bar > 0) {
      int[] paints = {CpuPainter.depth(line.at, line.of)};
      double[] parts = {state.residency()};
      int trough = Paint.of(Role.CHROME);
      Bar.paint(grid, columns.x(Column.BAR), y, bar, parts, paints, trough, scene.options);
    }
    // Nothing is too short for a state that pays at once, nor too long for the deepest one.
    String tooShort = state.targetMicros() == 0 ? "·" : share(state.tooShort(), state.entries());
    String tooLong =
        known && line.at == line.of - 1 ? "·" : share(state.tooLong(), state.entries());
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

  private static List<Line> lines(CpuReport report) {
    List<Line> lines = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (CpuRow cpu : report.cpus()) {
      for (IdleRow state : states(cpu)) {
        if (!names.contains(state.name())) {
          names.add(state.name());
        }
      }
    }
    for (int i = 0; i < names.size(); i++) {
      lines.add(new Line(ALL, mean(report, names.get(i)), i, names.size(), report.cpus().size()));
    }
    for (CpuRow cpu : report.cpus()) {
      List<IdleRow> states = states(cpu);
      for (int i = 0; i < states.size(); i++) {
        lines.add(new Line("CPU" + cpu.cpu(), states.get(i), i, states.size(), 1));
      }
    }
    return lines;
  }

  /** Without a driver there is one state, of which nothing is known but the time in it. */
  private static List<IdleRow> states(CpuRow cpu) {
    double nan = Double.NaN;
    return cpu.idle().isEmpty()
        ? List.of(new IdleRow("idle", -1, -1, 1 - cpu.busy(), cpu.wakeups(), nan, nan))
        : cpu.idle();
  }

  /** A state as a CPU has it in the mean; shares of stays are of all of them. */
  private static IdleRow mean(CpuReport report, String name) {
    long latency = -1;
    long target = -1;
    double residency = 0;
    double entries = 0;
    double tooShort = 0;
    double tooLong = 0;
    for (CpuRow cpu : report.cpus()) {
      for (IdleRow state : states(cpu)) {
        if (state.name().equals(name)) {
          latency = Math.max(latency, state.exitLatencyMicros());
          target = Math.max(target, state.targetMicros());
          residency += state.residency();
          entries += state.entries();
          if (state.entries() > 0) {
            tooShort += state.tooShort() * state.entries();
            tooLong += state.tooLong() * state.entries();
          }
        }
      }
    }
    int n = report.cpus().size();
    return new IdleRow(
        name, latency, target, residency / n, entries / n, tooShort / entries, tooLong / entries);
  }
}
