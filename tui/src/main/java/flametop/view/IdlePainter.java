package flametop.view;

import flametop.profile.CpuReport;
import flametop.profile.CpuRow;
import flametop.profile.CpuRow.IdleRow;
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
  private static final int CPU = 7;
  private static final String[] TITLES = {
    "latency", "target", "entries/s", "mean stay", "residency", "too short", "long"
  };
  private static final int[] WIDTHS = {8, 8, 10, 10, 10, 10, 6};
  private static final int LEAST_NAME = 9;
  private static final int LONGEST_NAME = 16;
  private static final int RESIDENCY = 4;
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
    return Math.max(1, scene.rows - 2 - tableTop(scene));
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

  private static int tableTop(Scene scene) {
    return 2 + (scene.rows < 16 ? 0 : why(scene).length);
  }

  /** Why there are no idle states, in lines. */
  private static String[] why(Scene scene) {
    return scene.page instanceof CpuReport report && !report.noIdleStates().isEmpty()
        ? report.noIdleStates().split("; ", -1)
        : new String[0];
  }

  @Override
  public String[][] legend() {
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
    int top = tableTop(scene);
    if (scene.page instanceof CpuReport report) {
      for (int y = 1; y < top - 1; y++) {
        grid.text(1, y, scene.columns - 2, why(scene)[y - 1], DIM, GROUND, 0);
      }
      table(scene, grid, report, top);
    } else {
      grid.text(1, top, scene.columns - 2, "measuring…", DIM, GROUND, 0);
    }
    String how = "as requested: hardware may choose others; of about a second";
    TableArea.titleOrSteps(scene, grid, top - 1, "idle states", how);
    KeyLine.paint(scene, grid);
  }

  private static void table(Scene scene, CellGrid grid, CpuReport report, int top) {
    int fixed = CPU + 2;
    for (int width : WIDTHS) {
      fixed += width;
    }
    int name = Math.max(LEAST_NAME, Math.min(LONGEST_NAME, scene.columns - fixed));
    int bar = Math.min(LONGEST_BAR, scene.columns - fixed - name - 2);
    bar = bar < 8 ? 0 : bar;
    grid.text(1, top, CPU, "CPU", DIM, GROUND, 0);
    grid.text(1 + CPU, top, name, "state", DIM, GROUND, 0);
    int x = 1 + CPU + name;
    for (int i = 0; i < TITLES.length; i++) {
      x = right(grid, x, top, WIDTHS[i], TITLES[i], DIM, 0);
      x += i == RESIDENCY && bar > 0 ? bar + 2 : 0;
    }
    List<Line> lines = lines(report);
    int first = top(scene);
    for (int i = first; i < Math.min(lines.size(), first + room(scene)); i++) {
      row(scene, grid, top + 1 + i - first, lines.get(i), i == first, name, bar);
    }
  }

  private static void row(
      Scene scene, CellGrid grid, int y, Line line, boolean first, int name, int bar) {
    IdleRow state = line.state;
    int attribute = line.sum() ? CellGrid.BOLD : 0;
    // What stands for the rows above is said again where they are out of sight.
    if (line.at == 0 || first) {
      grid.text(1, y, CPU, line.cpu, line.sum() ? ACCENT : TEXT, GROUND, attribute);
    }
    grid.text(1 + CPU, y, name - 1, state.name(), TEXT, GROUND, attribute);
    int x = 1 + CPU + name;
    boolean known = state.targetMicros() >= 0;
    x = figure(grid, x, y, 0, known ? micros(state.exitLatencyMicros()) : "n/a", attribute);
    x = figure(grid, x, y, 1, known ? micros(state.targetMicros()) : "n/a", attribute);
    x = figure(grid, x, y, 2, entries(state.entries() * line.cpus), attribute);
    x = figure(grid, x, y, 3, stay(state), attribute);
    x = figure(grid, x, y, RESIDENCY, Units.percent(state.residency()), CellGrid.BOLD);
    if (bar > 0) {
      int[] paints = {CpuPainter.depth(line.at, line.of)};
      double[] parts = {state.residency()};
      int trough = Paint.of(Role.CHROME);
      Bar.paint(grid, x + 1, y, bar, parts, paints, trough, scene.options);
      x += bar + 2;
    }
    // Nothing is too short for a state that pays at once, nor too long for the deepest one.
    String tooShort = state.targetMicros() == 0 ? "·" : share(state.tooShort(), state.entries());
    String tooLong =
        known && line.at == line.of - 1 ? "·" : share(state.tooLong(), state.entries());
    x = wrong(grid, x, y, 5, tooShort, state.tooShort());
    wrong(grid, x, y, 6, tooLong, state.tooLong());
  }

  private static int figure(CellGrid grid, int x, int y, int column, String text, int attribute) {
    boolean none = text.equals("n/a") || text.equals("0.0%") || text.equals("0");
    return right(grid, x, y, WIDTHS[column], text, none ? DIM : TEXT, attribute);
  }

  private static int wrong(CellGrid grid, int x, int y, int column, String text, double share) {
    boolean quiet = text.equals("·") || text.equals("n/a") || !(share >= 0.1);
    return right(grid, x, y, WIDTHS[column], text, quiet ? DIM : Paint.of(Role.WORSE), 0);
  }

  private static int right(
      CellGrid grid, int x, int y, int width, String text, int fg, int attribute) {
    if (x + width > grid.columns()) {
      return x + width;
    }
    int length = TextWidth.of(text);
    grid.text(x + width - length, y, length, text, fg, GROUND, attribute);
    return x + width;
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
