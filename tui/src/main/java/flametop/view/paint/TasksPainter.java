package flametop.view.paint;

import flametop.profile.answer.Function;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.sampler.State;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.Units;
import flametop.view.layout.Columns;
import flametop.view.layout.Scene;
import flametop.view.layout.TableArea;
import flametop.view.layout.TableLayout;
import flametop.view.layout.TasksLayout;
import flametop.view.layout.TasksLayout.Column;
import flametop.view.state.TasksTable;
import java.util.ArrayList;
import java.util.List;

/** A row for each process or thread: what it does now, and what it did within the window. */
public final class TasksPainter extends TablePainter<Column, TasksReport.Row> {
  private static final int SHADE = Paint.SHADES / 2;

  /** A letter for each state. */
  private static final String LETTERS = "RQSDTZPI?";

  private static final long SECOND = 1_000_000_000L;

  /** Waiting for a CPU for more of its time than this stands out. */
  private static final double LONG_QUEUE = 0.1;

  /** Sleep that cannot be interrupted stands out from this on, ns. */
  private static final long LONG_DISK = SECOND / 2;

  private static String what(Scene scene) {
    return scene.state.tasks().threads() ? "threads" : "processes";
  }

  @Override
  String title(Scene scene) {
    String what = what(scene);
    if (!(scene.page instanceof TasksReport report)) {
      return what;
    }
    boolean one = report.tasks() == 1;
    String of = !one ? what : scene.state.tasks().threads() ? "thread" : "process";
    return count(report.matching(), report.tasks(), of);
  }

  @Override
  TableLayout<Column> layout(Scene scene) {
    return TasksLayout.of(scene);
  }

  @Override
  StateSet states(Scene scene) {
    return StateSet.ALL;
  }

  @Override
  String order(Scene scene) {
    return TasksTable.label(by(scene));
  }

  @Override
  Column sorted(Scene scene) {
    return Column.of(by(scene));
  }

  private static TasksQuery.Order by(Scene scene) {
    return scene.state.tasks().order().in(scene.compares());
  }

  @Override
  List<TasksReport.Row> rows(Scene scene) {
    return scene.page instanceof TasksReport report ? report.rows() : null;
  }

  @Override
  String nothing(Scene scene) {
    int tasks = ((TasksReport) scene.page).tasks();
    return tasks > 0
        ? "none matches; esc shows all " + Units.count(tasks)
        : scene.state.chosenShape().equals(Shape.PLAIN)
            ? "no " + what(scene) + " seen yet"
            : "no " + what(scene) + " that the filter shows";
  }

  @Override
  void row(
      Scene scene,
      CellGrid grid,
      Columns<Column> columns,
      int y,
      TasksReport.Row row,
      boolean marked,
      int bg) {
    boolean ended = row.state() == null;
    int fg = marked ? Paint.of(Role.INK) : ended ? DIM : TEXT;
    int quiet = marked ? fg : DIM;
    int number = scene.state.tasks().threads() ? row.tid() : row.pid();
    columns.put(grid, Column.PID, y, number == 0 ? "" : Integer.toString(number), quiet, bg, 0);

    boolean disk = row.state() == State.DISK;
    boolean longDisk = disk && row.ageNanos() >= LONG_DISK;
    int state = marked || ended ? fg : Paint.of(Role.of(row.state()), SHADE);
    int strong =
        row.state() == State.RUN || row.state() == State.QUEUED || disk ? CellGrid.BOLD : 0;
    columns.put(grid, Column.STATE, y, label(row, columns.width(Column.STATE)), state, bg, strong);
    int age = marked ? fg : longDisk ? Paint.of(Role.WORSE) : quiet;
    String since = ended ? "" : Units.age(row.ageNanos());
    columns.put(grid, Column.AGE, y, since, age, bg, longDisk ? CellGrid.BOLD : 0);

    long window = ((TasksReport) scene.page).windowNanos();
    double cpu = share(row.run(), window);
    String text = Units.tenths(cpu);
    boolean none = text.equals("0.0%");
    columns.put(grid, Column.CPU, y, text, none ? quiet : fg, bg, none ? 0 : CellGrid.BOLD);
    TasksReport.Before before = row.before();
    if (before != null) {
      share(grid, columns, Column.BEFORE, y, share(before.run(), window), quiet, quiet, bg);
      double more = share(row.run() - before.run(), window);
      Comparison.put(grid, columns, Column.CHANGE, y, before.change(), more, quiet, bg, marked);
    }
    double queued = share(row.queued(), window);
    text = Units.tenths(queued);
    boolean waits = row.queued() >= LONG_QUEUE * (row.run() + row.queued()) && queued >= 0.01;
    int queuedPaint =
        marked ? fg : waits ? Paint.of(Role.QUEUED, SHADE) : text.equals("0.0%") ? quiet : fg;
    columns.put(grid, Column.QUEUED, y, text, queuedPaint, bg, waits ? CellGrid.BOLD : 0);
    columns.put(grid, Column.OFF, y, Units.tenths(share(row.off(), window)), quiet, bg, 0);
    int bar = columns.width(Column.BAR);
    if (bar > 0) {
      bar(scene, grid, columns.x(Column.BAR), y, bar, row, marked ? bg : TROUGH);
    }
    String threads = row.threads() == 0 ? "" : Integer.toString(row.threads());
    columns.put(grid, Column.THREADS, y, threads, row.threads() > 1 ? fg : quiet, bg, 0);
    columns.put(grid, Column.USER, y, scene.options.users().apply(row.uid()), quiet, bg, 0);
    int named = row.isGone() ? CellGrid.UNDERLINE : ended ? 0 : CellGrid.BOLD;
    columns.put(grid, Column.COMM, y, row.comm(), fg, bg, named);
    function(grid, columns, Column.LEAF, y, row.leaf(), fg, bg);
    if (row.user() != null && !row.user().equals(row.leaf())) {
      function(grid, columns, Column.CALLER, y, row.user(), fg, bg);
    }
    columns.put(grid, Column.COMMAND, y, row.commandLine(), quiet, bg, 0);
  }

  private static void function(
      CellGrid grid,
      Columns<Column> columns,
      Column column,
      int y,
      Function function,
      int fg,
      int bg) {
    if (function != null && columns.width(column) > 2) {
      TopPainter.name(grid, columns.x(column), y, columns.width(column), function, fg, bg, 0);
    }
  }

  /** Where the window is not known yet there was nothing. */
  private static double share(long nanos, long window) {
    return window <= 0 ? 0 : (double) nanos / window;
  }

  private static String label(TasksReport.Row row, int width) {
    if (row.state() == null) {
      return width == 1 ? "" : row.isGone() ? "gone" : "ended";
    }
    int at = row.state().ordinal();
    return width > 1 ? row.state().label() : LETTERS.substring(at, at + 1);
  }

  /** Its own time: on a CPU, waiting for one, off it. */
  private static void bar(
      Scene scene, CellGrid grid, int x, int y, int width, TasksReport.Row row, int trough) {
    double whole = Math.max(1, row.run() + row.queued() + row.off());
    double[] parts = {row.run() / whole, row.queued() / whole};
    int[] paints = {Paint.of(Role.RUN, SHADE), Paint.of(Role.QUEUED, SHADE)};
    Bar.paint(grid, x, y, width, parts, paints, trough, scene.options);
  }

  @Override
  void detail(Scene scene, CellGrid grid, TableArea area, TasksReport.Row row) {
    long window = ((TasksReport) scene.page).windowNanos();
    List<String> more = new ArrayList<>();
    String who =
        row.pid() == 0
            ? "processes that ended long ago"
            : "pid "
                + row.pid()
                + (row.tid() == 0 || row.tid() == row.pid() ? "" : " tid " + row.tid());
    more.add(who);
    more.add(row.commandLine());
    line(scene, grid, area, 0, row.comm(), more);
    more = new ArrayList<>();
    if (row.leaf() != null) {
      more.add("in " + named(row.leaf()));
      if (row.user() != null && !row.user().equals(row.leaf())) {
        more.add("called from " + named(row.user()));
      }
    }
    TasksReport.Before before = row.before();
    if (before != null) {
      more.add(
          "cpu "
              + Comparison.shares(row.run(), before.run(), window)
              + Comparison.times(row.run(), before.run()));
    }
    more.add(
        "of "
            + Units.span(window)
            + ": on a CPU "
            + Units.time(row.run())
            + ", queued "
            + Units.time(row.queued())
            + ", off "
            + Units.time(row.off()));
    String now =
        row.state() == null
            ? label(row, 2)
            : row.state().label() + " for " + Units.age(row.ageNanos());
    line(scene, grid, area, 1, now, more);
  }

  private static String named(Function function) {
    return function.module().isEmpty()
        ? function.name()
        : function.name() + " (" + function.module() + ")";
  }
}
