package flametop.view.layout;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.CpuRow.IdleRow;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the table of idle states stands, which has no marked row.
 *
 * @param table its heads, and the room for its rows
 * @param lines all of its rows
 * @param top index of the first row in sight
 */
public record IdleLayout(TableLayout<Column> table, List<Line> lines, int top) {
  private static final String ALL = "all";
  private static final int CPU = 6;

  public enum Column {
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
  public record Line(String cpu, IdleRow state, int at, int of, int cpus) {
    public boolean sum() {
      return cpu.equals(ALL);
    }
  }

  public static IdleLayout of(Scene scene) {
    List<Line> lines = scene.page instanceof CpuReport report ? lines(report) : List.of();
    Heading heading = Heading.of(scene, why(scene));
    TableLayout<Column> table =
        TableLayout.around(
            heading, columns(scene), heading.end + 1, scene.rows - 1, 0, lines.size());
    int lowest = Math.max(0, lines.size() - table.room());
    int top = Math.max(0, Math.min(scene.state.cpus().idleTop(), lowest));
    return new IdleLayout(table, lines, top);
  }

  /** The last row that can be the first in sight. */
  public int lowestTop() {
    return Math.max(0, lines.size() - table.room());
  }

  /** One more than the index of the last row in sight. */
  public int end() {
    return Math.min(lines.size(), top + table.room());
  }

  /** Why there are no idle states, in lines; in a low window they have no room. */
  private static List<String> why(Scene scene) {
    return scene.rows >= 16
            && scene.page instanceof CpuReport report
            && !report.noIdleStates().isEmpty()
        ? List.of(report.noIdleStates().split("; ", -1))
        : List.of();
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
