package flametop.view.paint;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.ShortName;
import flametop.view.base.Units;
import flametop.view.layout.Columns;
import flametop.view.layout.FileHeader;
import flametop.view.layout.Scene;
import flametop.view.layout.TableArea;
import flametop.view.layout.TableLayout;
import flametop.view.layout.TopLayout;
import flametop.view.layout.TopLayout.Column;
import flametop.view.state.TopTable;
import java.util.List;

/** A row for each function: what is spent in it and in what it calls, and in which states. */
public final class TopPainter extends TablePainter<Column, TopReport.Row> {
  /** Those with a colour of their own in the bars, in this order; the rest comes last. */
  private static final State[] STATES = {State.RUN, State.QUEUED, State.DISK, State.SLEEP};

  private static final int SHADE = Paint.SHADES / 2;

  private static final Column[] BY_STATE = {Column.RUN, Column.QUEUED, Column.DISK, Column.SLEEP};

  @Override
  TableLayout<Column> layout(Scene scene) {
    return TopLayout.of(scene);
  }

  @Override
  StateSet states(Scene scene) {
    return scene.options.origin().has(Capability.STATES) ? scene.state.states() : null;
  }

  @Override
  String order(Scene scene) {
    return TopTable.label(by(scene));
  }

  @Override
  Column sorted(Scene scene) {
    return Column.of(by(scene));
  }

  private static TopQuery.Order by(Scene scene) {
    return scene.state.top().order().in(scene.compares());
  }

  @Override
  List<TopReport.Row> rows(Scene scene) {
    return scene.page instanceof TopReport report ? report.rows() : null;
  }

  @Override
  String title(Scene scene) {
    return scene.page instanceof TopReport report
        ? count(report.matching(), report.functions(), "functions")
        : "functions";
  }

  @Override
  String nothing(Scene scene) {
    int functions = ((TopReport) scene.page).functions();
    return functions > 0
        ? "no function matches; esc shows all " + Units.count(functions)
        : scene.snapshot.total() <= 0
            ? GraphPainter.nothing(scene)
            : "nothing of what is shown is a function";
  }

  @Override
  void row(
      Scene scene,
      CellGrid grid,
      Columns<Column> columns,
      int y,
      TopReport.Row row,
      boolean marked,
      int bg) {
    int fg = marked ? Paint.of(Role.INK) : row.isGone() ? DIM : TEXT;
    int quiet = marked ? fg : DIM;
    double all = Math.max(1, ((TopReport) scene.page).total());
    share(grid, columns, Column.SELF, y, row.self() / all, fg, quiet, bg);
    share(grid, columns, Column.TOTAL, y, row.total() / all, fg, quiet, bg);
    TopReport.Before before = row.before();
    if (before != null) {
      share(grid, columns, Column.SELF_BEFORE, y, before.self() / all, quiet, quiet, bg);
      share(grid, columns, Column.TOTAL_BEFORE, y, before.total() / all, quiet, quiet, bg);
      double self = (row.self() - before.self()) / all;
      double total = (row.total() - before.total()) / all;
      Comparison.put(
          grid, columns, Column.SELF_CHANGE, y, before.selfChange(), self, quiet, bg, marked);
      Comparison.put(
          grid, columns, Column.TOTAL_CHANGE, y, before.totalChange(), total, quiet, bg, marked);
    }
    int bar = columns.width(Column.BAR);
    if (bar > 0) {
      bar(scene, grid, columns.x(Column.BAR), y, bar, row, all, marked ? bg : TROUGH);
    }
    Snapshot.Reading reading = scene.snapshot.reading();
    if (reading != null) {
      String amount = FileHeader.figure(row.total(), reading);
      columns.put(grid, Column.AMOUNT, y, amount, fg, bg, 0);
    }
    long[] total = row.totalByState();
    String cpus = Units.hundredths(worth(scene, total[State.RUN.ordinal()]));
    columns.put(grid, Column.CPUS, y, cpus, cpus.equals("0.00") ? quiet : fg, bg, 0);
    for (int i = 0; i < STATES.length; i++) {
      if (scene.state.states().contains(STATES[i])) {
        share(grid, columns, BY_STATE[i], y, total[STATES[i].ordinal()] / all, fg, quiet, bg);
      } else {
        columns.put(grid, BY_STATE[i], y, "·", quiet, bg, 0);
      }
    }
    int named = row.isGone() ? CellGrid.UNDERLINE : 0;
    int room = columns.width(Column.NAME);
    name(grid, columns.x(Column.NAME), y, room, row.function(), fg, bg, named);
    String module = row.function().module();
    int rest = columns.width(Column.MODULE);
    if (rest > 0 && !module.isEmpty()) {
      columns.put(grid, Column.MODULE, y, ShortName.ofModule(module, rest), quiet, bg, 0);
    }
  }

  private static double worth(Scene scene, long run) {
    Snapshot snapshot = scene.snapshot;
    return snapshot == null || snapshot.windowNanos() <= 0
        ? 0
        : (double) run / snapshot.windowNanos();
  }

  /** A bar of the colour of its kind, then what is left of the name in the room. */
  static void name(
      CellGrid grid, int x, int y, int width, Function function, int fg, int bg, int attribute) {
    grid.put(x, y, '▌', paint(function), bg, 0);
    String name = function.name();
    String text = function.kind().isFrame() ? ShortName.form(name, width - 2) : name;
    grid.text(x + 2, y, width - 2, text, fg, bg, attribute);
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
      double whole,
      int trough) {
    int n = STATES.length;
    boolean stateless = scene.options.plain() || !scene.options.origin().has(Capability.STATES);
    double[] parts = new double[stateless ? 2 : 2 * n + 1];
    int[] paints = new int[parts.length];
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

  @Override
  void detail(Scene scene, CellGrid grid, TableArea area, TopReport.Row row) {
    long all = ((TopReport) scene.page).total();
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
    TopReport.Before before = row.before();
    String figures =
        before == null
            ? "self "
                + Units.share(row.self(), all)
                + ", total "
                + Units.share(row.total(), all)
                + " of all"
            : "self "
                + Comparison.shares(row.self(), before.self(), all)
                + ", total "
                + Comparison.shares(row.total(), before.total(), all)
                + " of all"
                + Comparison.times(row.total(), before.total());
    String cpus =
        Units.hundredths(worth(scene, row.selfByState()[State.RUN.ordinal()]))
            + " cpu itself, "
            + Units.hundredths(worth(scene, total[State.RUN.ordinal()]))
            + " in all";
    if (area.detailRows == 1) {
      line(scene, grid, area, 0, function.name(), List.of(function.module()));
      return;
    }
    line(scene, grid, area, 0, function.name(), List.of());
    String from = function.module().isEmpty() ? kind(function.kind()) : function.module();
    Snapshot.Reading reading = scene.snapshot.reading();
    if (reading != null) {
      String amounts =
          FileHeader.amount(row.self(), reading)
              + " itself, "
              + FileHeader.figure(row.total(), reading)
              + " in all";
      line(scene, grid, area, 1, from, List.of(figures, amounts));
      return;
    }
    line(scene, grid, area, 1, from, List.of(figures, states.toString(), cpus));
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
