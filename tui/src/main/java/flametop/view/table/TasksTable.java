package flametop.view.table;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery.Order;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TasksReport.Row;
import flametop.sampler.State;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.Units;
import flametop.view.base.View;
import flametop.view.keys.ShapeKeys;
import flametop.view.layout.Scene;
import flametop.view.paint.Comparison;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A row for each process or thread: its state now, and its times within the window. */
public final class TasksTable extends FilteredTable<Row, Long, Order> {
  private static final int SHADE = Paint.SHADES / 2;
  private static final int PERCENT = 6;

  /** Cells of an amount that is no time: {@code 1,234,567}, {@code 999.9 MiB}. */
  private static final int AMOUNT = 11;

  /** A letter for each state. */
  private static final String LETTERS = "RQSDTZPI?";

  /** A wait for a CPU for more of the task's time than this stands out. */
  private static final double LONG_QUEUE = 0.1;

  /** Sleep that cannot be interrupted stands out from this on, ns. */
  private static final long LONG_DISK = 500_000_000L;

  /** A screen as wide as this has a column for the caller. */
  private static final int CALLER_COLUMNS = 100;

  public TasksTable() {
    super(View.TASKS, "task", Order.values());
    add(
        right(scene -> threads(scene.state) ? "tid" : "pid", cells(7), TasksTable::pid)
            .by(Order.PID, "pid"),
        left(
            scene -> scene.columns < 70 ? "" : "state",
            room -> room.columns() < 70 ? 1 : 7,
            TasksTable::state),
        right("age", from(50, PERCENT), TasksTable::age)
            .by(Order.AGE, "longest in its state")
            .meaning("age", "in its state"),
        right(
            "was",
            room -> compared(100, room.scene().hasStates() ? PERCENT : AMOUNT).in(room),
            TasksTable::before),
        right("cpu", ofTime(0, PERCENT), TasksTable::cpu)
            .by(Order.CPU, "time on a CPU")
            .meaning("cpu", "exact; 100% is one CPU"),
        right(
                scene -> scene.snapshot.measure().title(),
                room -> room.scene().hasStates() ? 0 : AMOUNT,
                (row, at) -> at.text(amount(row.run(), at)))
            .like(Order.CPU),
        ofChanges(
            right("change", compared(0, Comparison.CHANGE), TasksTable::change)
                .by(Order.CHANGE, "change")),
        right("queued", ofTime(60, PERCENT), TasksTable::queued)
            .by(Order.QUEUED, "time queued")
            .meaning("queued", "waited for one, likewise"),
        right("disk", ofTime(90, PERCENT), TasksTable::disk)
            .by(Order.DISK, "time in D")
            .meaning("disk", "in D, mostly for a disk"),
        right("off", ofTime(150, 7), (row, at) -> at.quiet(tenths(row.off(), at))),
        left(
            "",
            room -> room.columns() < 160 ? ofTime(110, 8).in(room) : ofTime(0, 12).in(room),
            TasksTable::bar),
        right("thr", TasksTable::threadsCells, TasksTable::threads),
        left("kind", TasksTable::kindCells, (row, at) -> at.quiet(row.kind().word()))
            .meaning(TasksTable::hasKinds, "kind", "of a JVM's own threads"),
        left("user", from(120, 9), TasksTable::user),
        left("comm", TasksTable::commCells, TasksTable::comm),
        left(
                scene -> scene.columns < CALLER_COLUMNS ? "  function" : "  is in",
                TasksTable::leafCells,
                (row, at) -> function(place(row, at), at))
            .meaning("is in", "its innermost function"),
        left("  called from", TasksTable::callerCells, (row, at) -> function(caller(row), at))
            .meaning("from", "its own, not libc's or the kernel's"),
        left("command line", room -> room.columns() < 160 ? 0 : room.left(), TasksTable::command));
  }

  private static boolean threads(ViewState s) {
    return s.table(View.TASKS).second();
  }

  @Override
  String firstBy(Scene scene, Order order) {
    return order == Order.CPU && !scene.hasStates()
        ? "first by " + scene.snapshot.measure().title()
        : super.firstBy(scene, order);
  }

  // Widths.

  /** Cells of a column that only time has. */
  private static Column.Width ofTime(int columns, int cells) {
    return room -> room.scene().hasStates() && room.columns() >= columns ? cells : 0;
  }

  private static int threadsCells(Column.Room room) {
    return room.columns() < 100 || threads(room.scene().state) ? 0 : 4;
  }

  private static int kindCells(Column.Room room) {
    return room.columns() >= 80 && hasKinds(room.scene()) ? 4 : 0;
  }

  /** Whether threads of a JVM are among the rows. */
  private static boolean hasKinds(Scene scene) {
    return threads(scene.state)
        && scene.page instanceof TasksReport report
        && report.rows().stream().anyMatch(row -> row.kind() != ThreadKind.PROGRAM);
  }

  private static int commCells(Column.Room room) {
    int left = room.left();
    return room.columns() >= 100 ? 15 : left < 20 ? left : Math.min(15, left * 2 / 5);
  }

  private static int leafCells(Column.Room room) {
    int left = room.left();
    return room.columns() < 100 ? left : room.columns() < 160 ? left / 2 : Math.min(44, left / 3);
  }

  private static int callerCells(Column.Room room) {
    return room.columns() < CALLER_COLUMNS ? 0 : room.columns() < 160 ? room.left() : room.before();
  }

  // Cells.

  private static void pid(Row row, Spot at) {
    int number = threads(at.scene.state) ? row.tid() : row.pid();
    at.quiet(number == 0 ? "" : Integer.toString(number));
  }

  private static void state(Row row, Spot at) {
    State state = row.state();
    boolean strong = state == State.RUN || state == State.QUEUED || state == State.DISK;
    int paint = at.marked || state == null ? at.fg : Paint.of(Role.of(state), SHADE);
    at.text(label(row, at.width), paint, strong ? CellGrid.BOLD : 0);
  }

  private static String label(Row row, int width) {
    State state = row.state();
    if (state == null) {
      return width == 1 ? "" : row.isGone() ? "gone" : "ended";
    }
    int at = state.ordinal();
    return width > 1 ? state.label() : LETTERS.substring(at, at + 1);
  }

  private static void age(Row row, Spot at) {
    boolean isLong = row.state() == State.DISK && row.ageNanos() >= LONG_DISK;
    int paint = at.marked ? at.fg : isLong ? Paint.WORSE : at.quiet;
    String text = row.state() == null ? "" : Units.age(row.ageNanos());
    at.text(text, paint, isLong ? CellGrid.BOLD : 0);
  }

  private static void before(Row row, Spot at) {
    TasksReport.Before before = row.before();
    if (before != null) {
      at.quiet(amount(before.run(), at));
    }
  }

  private static void cpu(Row row, Spot at) {
    String text = tenths(row.run(), at);
    at.figure(text, text.equals("0.0%") ? 0 : CellGrid.BOLD, "0.0%");
  }

  private static void change(Row row, Spot at) {
    TasksReport.Before before = row.before();
    if (before != null) {
      at.change(before.change(), share(row.run() - before.run(), at));
    }
  }

  private static void queued(Row row, Spot at) {
    boolean isLong = row.queued() >= LONG_QUEUE * (row.run() + row.queued());
    stands(row.queued(), isLong, State.QUEUED, at);
  }

  private static void disk(Row row, Spot at) {
    stands(row.disk(), true, State.DISK, at);
  }

  /** A time that stands out in the colour of its state, if it is long and a percent or more. */
  private static void stands(long nanos, boolean isLong, State state, Spot at) {
    String text = tenths(nanos, at);
    if (isLong && share(nanos, at) >= 0.01) {
      at.text(text, at.marked ? at.fg : Paint.of(Role.of(state), SHADE), CellGrid.BOLD);
    } else {
      at.figure(text, 0, "0.0%");
    }
  }

  /** The task's own time: on a CPU, waiting for one, off it. */
  private static void bar(Row row, Spot at) {
    double whole = Math.max(1, row.run() + row.queued() + row.off());
    double[] parts = {row.run() / whole, row.queued() / whole};
    at.bar(parts, Paint.of(Role.RUN, SHADE), Paint.of(Role.QUEUED, SHADE));
  }

  private static void threads(Row row, Spot at) {
    String text = row.threads() == 0 ? "" : Integer.toString(row.threads());
    at.figure(text, 0, "1");
  }

  private static void user(Row row, Spot at) {
    at.quiet(at.scene.options.users().apply(row.uid()));
  }

  private static void comm(Row row, Spot at) {
    boolean ended = row.state() == null;
    at.text(row.comm(), at.fg, row.isGone() ? CellGrid.UNDERLINE : ended ? 0 : CellGrid.BOLD);
  }

  private static void function(@Nullable Function function, Spot at) {
    if (function != null && at.width > 2) {
      at.name(function, 0);
    }
  }

  /** The innermost function; where the caller has no column, the innermost one of its own. */
  private static @Nullable Function place(Row row, Spot at) {
    return at.scene.columns < CALLER_COLUMNS && row.own() != null ? row.own() : row.leaf();
  }

  /** The innermost function of its own, unless the task is in it; null for none. */
  private static @Nullable Function caller(Row row) {
    Function own = row.own();
    return own == null || own.equals(row.leaf()) ? null : own;
  }

  private static void command(Row row, Spot at) {
    at.quiet(row.commandLine());
  }

  private static String tenths(long nanos, Spot at) {
    return Units.tenths(share(nanos, at));
  }

  /** A share of the window, or the amount where the measure is not time. */
  private static String amount(long amount, Spot at) {
    return at.scene.hasStates() ? tenths(amount, at) : at.scene.snapshot.measure().figure(amount);
  }

  /** A share of the window, or of all that is shown; 0 as long as that is not known. */
  private static double share(long amount, Spot at) {
    long whole = whole(at.scene);
    return whole <= 0 ? 0 : (double) amount / whole;
  }

  private static long whole(Scene scene) {
    return scene.hasStates()
        ? page(scene, TasksReport.class).windowNanos()
        : scene.snapshot.total();
  }

  // Rows.

  @Override
  @Nullable List<Row> rows(Scene scene) {
    return scene.page instanceof TasksReport report ? report.rows() : null;
  }

  @Override
  int count(Scene scene, List<Row> rows) {
    return page(scene, TasksReport.class).matching();
  }

  /** A row that stands for many ended processes is known by their comm. */
  @Override
  Long key(Row row) {
    return row.pid() == 0
        ? -1L - Math.abs((long) row.comm().hashCode())
        : (long) row.pid() << 32 | row.tid();
  }

  @Override
  boolean isFaint(Row row) {
    return row.state() == null;
  }

  @Override
  @Nullable StateSet states(Scene scene) {
    return scene.hasStates() ? StateSet.ALL : null;
  }

  private static String what(Scene scene) {
    return threads(scene.state) ? "threads" : "processes";
  }

  @Override
  String title(Scene scene) {
    if (!(scene.page instanceof TasksReport report)) {
      return what(scene);
    }
    boolean one = report.tasks() == 1;
    String of = !one ? what(scene) : threads(scene.state) ? "thread" : "process";
    String living = count(report.matching(), report.tasks(), of);
    return report.ended() == 0
        ? living
        : living + ", " + Units.count(report.ended()) + " ended" + by(scene);
  }

  /** {@code : a}, the key that shows the tasks that ended; empty without a key. */
  private static String by(Scene scene) {
    List<Key> keys = scene.options.keymap().keys(Action.ENDED);
    return keys.isEmpty() ? "" : ": " + keys.get(0).symbol();
  }

  @Override
  String nothing(Scene scene) {
    TasksReport report = page(scene, TasksReport.class);
    int tasks = report.tasks();
    return tasks > 0
        ? "none matches; esc shows all " + Units.count(tasks)
        : scene.state.chosenShape().equals(Shape.PLAIN)
            ? "no " + what(scene) + " seen yet"
            : "no " + what(scene) + " that the filter shows";
  }

  // Verbs.

  @Override
  @Nullable Step acted(Scene scene, ViewState s, Action action) {
    if (action == Action.THREADS) {
      String text = threads(s) ? "a row for each process" : "a row for each thread";
      return Step.answer(with(s, place(s).withNextKind(2)), text);
    }
    if (action == Action.ENDED) {
      String text = place(s).ended() ? "only living ones" : "those that ended, too";
      return Step.answer(with(s, place(s).withOtherEnded()), text);
    }
    return super.acted(scene, s, action);
  }

  /** Shows the graph of the process or thread. */
  @Override
  Step enter(Scene scene, ViewState s) {
    Row row = row(scene, s);
    return row == null ? none(s) : shown(s, s.withView(View.GRAPH), row, false);
  }

  @Override
  Step narrowed(Scene scene, ViewState s, Row row, boolean out) {
    return shown(s, s, row, out);
  }

  private static Step shown(ViewState s, ViewState then, Row row, boolean out) {
    boolean thread = threads(s);
    if (row.pid() == 0 || thread && row.tid() == 0) {
      String what = thread ? "threads" : "processes";
      return Step.answer(s, "these are many " + what + " that ended long ago");
    }
    Shape.Filter filter =
        thread
            ? new Shape.Threads(Set.of(row.tid()), false)
            : new Shape.Processes(Set.of(row.pid()), false);
    // Of two that are kept the later counts.
    return out
        ? ShapeKeys.narrowed(s, filter, true)
        : ShapeKeys.only(s, then, filter, ShapeKeys.said(s, filter, false));
  }

  @Override
  String copied(Row row) {
    return row.commandLine().isEmpty() ? row.comm() : row.commandLine();
  }

  @Override
  String name(Row row) {
    return row.comm();
  }

  // The marked row in full.

  @Override
  void detail(Scene scene, Detail detail, Row row) {
    String tid = row.tid() == 0 || row.tid() == row.pid() ? "" : " tid " + row.tid();
    String who = row.pid() == 0 ? "processes that ended long ago" : "pid " + row.pid() + tid;
    detail.line(0, row.comm(), List.of(who, row.commandLine()));
    List<String> more = new ArrayList<>();
    Function leaf = row.leaf();
    if (leaf != null) {
      more.add("in " + named(leaf));
      Function caller = caller(row);
      if (caller != null) {
        more.add("called from " + named(caller));
      }
    }
    long window = page(scene, TasksReport.class).windowNanos();
    TasksReport.Before before = row.before();
    if (before != null) {
      more.add(
          (scene.hasStates() ? "cpu " : "")
              + Comparison.shares(row.run(), before.run(), whole(scene))
              + Comparison.times(row.run(), before.run()));
    }
    String amounts =
        scene.hasStates()
            ? "on a CPU "
                + Units.time(row.run())
                + ", queued "
                + Units.time(row.queued())
                + ", off "
                + Units.time(row.off())
            : scene.snapshot.measure().text(row.run());
    more.add("of " + Units.span(window) + ": " + amounts);
    String now = label(row, 2) + (row.state() == null ? "" : " for " + Units.age(row.ageNanos()));
    detail.line(1, now, more);
  }

  private static String named(Function function) {
    return function.module().isEmpty()
        ? function.name()
        : function.name() + " (" + function.module() + ")";
  }
}
