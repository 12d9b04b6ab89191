package flametop.view.table;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.profile.answer.CpuRow.IdleRow;
import flametop.view.base.CellGrid;
import flametop.view.base.Mouse;
import flametop.view.base.Paint;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.paint.CpuPanelPainter;
import flametop.view.state.Rows;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * The idle states: those of all CPUs together first, then those of each CPU. Rows are neither
 * marked nor sorted, only scrolled.
 */
public final class IdleTable extends Table<IdleTable.Row, IdleTable.Row, String> {
  private static final String ALL = "all";
  private static final int LEAST_NAME = 9;
  private static final int LONGEST_NAME = 16;
  private static final int LEAST_BAR = 8;
  private static final int LONGEST_BAR = 80;

  /**
   * One idle state.
   *
   * @param cpu whose it is
   * @param at place of the state among those of the CPU, from the shallowest
   * @param of how many states the CPU has
   * @param cpus that are summed up in it: the state's figures are the mean of theirs
   */
  record Row(String cpu, IdleRow state, int at, int of, int cpus) {
    boolean sum() {
      return cpu.equals(ALL);
    }

    /** Whether a driver told more of it than the time in it. */
    boolean known() {
      return state.targetMicros() >= 0;
    }
  }

  public IdleTable() {
    super(View.IDLE, "idle state", "by CPU");
    add(
        left("CPU", cells(6), IdleTable::cpu),
        left("state", room -> name(room) - 1, (row, at) -> at.text(row.state.name())),
        right("latency", either(7, 0), (row, at) -> micros(row, IdleRow::exitLatencyMicros, at))
            .meaning("latency", "to leave the state"),
        right("target", either(7, 0), (row, at) -> micros(row, IdleRow::targetMicros, at))
            .meaning("target", "shortest stay that pays"),
        right(
            "entries/s",
            either(9, 0),
            (row, at) -> figure(perSecond(row.state.entries() * row.cpus), at)),
        right("mean stay", either(9, 0), (row, at) -> figure(stay(row.state), at)),
        right("residency", cells(9), IdleTable::residency),
        left("", this::barCells, IdleTable::bar),
        right("too short", cells(9), IdleTable::tooShort)
            .meaning("too short", "stays below the target"),
        right("long", cells(6), IdleTable::tooLong)
            .meaning("long", "a deeper one would have paid"));
  }

  // Widths. In little room the figures that are known beforehand are left out.

  @Override
  boolean isWide(Scene scene) {
    return scene.columns >= 60;
  }

  private int name(Column.Room room) {
    return Math.max(LEAST_NAME, Math.min(LONGEST_NAME, room.columns() - 1 - most()));
  }

  private int barCells(Column.Room room) {
    int bar = Math.min(LONGEST_BAR, room.columns() - 1 - most() - name(room) - 1);
    return bar < LEAST_BAR ? 0 : bar;
  }

  // Cells.

  /** The name of the CPU, which is said again where the row with it is out of sight. */
  private static void cpu(Row row, Spot at) {
    if (row.at == 0 || at.first) {
      at.text(row.cpu, row.sum() ? Paint.ACCENT : Paint.TEXT, 0);
    }
  }

  private static void residency(Row row, Spot at) {
    at.figure(Units.percent(row.state.residency()), CellGrid.BOLD, "n/a", "0.0%", "0");
  }

  private static void bar(Row row, Spot at) {
    at.bar(new double[] {row.state.residency()}, CpuPanelPainter.depth(row.at, row.of));
  }

  /** No stay is too short for a state that pays at once. */
  private static void tooShort(Row row, Spot at) {
    wrong(row.state.targetMicros() == 0, row.state.tooShort(), row, at);
  }

  /** No stay is too long for the deepest state. */
  private static void tooLong(Row row, Spot at) {
    wrong(row.known() && row.at == row.of - 1, row.state.tooLong(), row, at);
  }

  private static void wrong(boolean never, double share, Row row, Spot at) {
    boolean counted = row.state.entries() > 0 && !Double.isNaN(share);
    String text = never ? "·" : counted ? Units.wholePercent(share) : "n/a";
    at.plain(text, !never && counted && share >= 0.1 ? Paint.WORSE : Paint.DIM);
  }

  private static void figure(String text, Spot at) {
    at.figure(text, 0, "n/a", "0.0%", "0");
  }

  /** Where no stay ended, the open one is longer than the time that is looked at. */
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

  private static void micros(Row row, ToLongFunction<IdleRow> of, Spot at) {
    long micros = of.applyAsLong(row.state);
    String text =
        micros < 10_000 ? micros + " µs" : String.format(Locale.ROOT, "%.1f ms", micros / 1e3);
    figure(row.known() ? text : "n/a", at);
  }

  // Rows.

  @Override
  @Nullable List<Row> rows(Scene scene) {
    if (!(scene.page instanceof CpuReport report)) {
      return null;
    }
    List<Row> rows = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (CpuRow cpu : report.cpus()) {
      for (IdleRow state : states(cpu)) {
        if (!names.contains(state.name())) {
          names.add(state.name());
        }
      }
    }
    for (int i = 0; i < names.size(); i++) {
      rows.add(new Row(ALL, mean(report, names.get(i)), i, names.size(), report.cpus().size()));
    }
    for (CpuRow cpu : report.cpus()) {
      List<IdleRow> states = states(cpu);
      for (int i = 0; i < states.size(); i++) {
        rows.add(new Row("CPU" + cpu.cpu(), states.get(i), i, states.size(), 1));
      }
    }
    return rows;
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

  @Override
  boolean isStrong(Row row) {
    return row.sum();
  }

  @Override
  Row key(Row row) {
    return row;
  }

  @Override
  int marked(Scene scene, List<Row> rows) {
    return -1;
  }

  @Override
  int first(Scene scene, int marked, int count, int room) {
    return Math.max(0, Math.min(place(scene.state).place(), count - room));
  }

  // What stands above the rows.

  /** Why there are no idle states, in lines; in a low window they have no room. */
  @Override
  List<String> missing(Scene scene) {
    return scene.rows >= 16
            && scene.page instanceof CpuReport report
            && !report.noIdleStates().isEmpty()
        ? List.of(report.noIdleStates().split("; ", -1))
        : List.of();
  }

  @Override
  String title(Scene scene) {
    return "idle states";
  }

  @Override
  String subtitle(Scene scene) {
    return "as requested: hardware may choose others; of about a second";
  }

  @Override
  String waiting() {
    return "measuring…";
  }

  // Verbs.

  @Override
  Step enter(Scene scene, ViewState s) {
    return Step.answer(s, "nothing to mark here; the wheel scrolls");
  }

  @Override
  Step pressed(Scene scene, ViewState s, Mouse mouse, TableLayout<Row, String> layout) {
    return enter(scene, s);
  }

  @Override
  Step move(Scene scene, ViewState s, int by) {
    TableLayout<Row, String> layout = layout(scene);
    int lowest = Math.max(0, layout.rows().size() - layout.room());
    int to = Rows.moved(layout.first(), by, lowest);
    return to == layout.first() ? Rows.end(s, by) : Step.to(with(s, place(s).withMarked(null, to)));
  }
}
