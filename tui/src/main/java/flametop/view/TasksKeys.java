package flametop.view;

import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import java.util.List;
import java.util.Set;

/** What the keys do in the view of the tasks. */
final class TasksKeys extends FilteredTableKeys<TasksReport.Row, TasksQuery.Order> {
  private static final Action[] ACTIONS = {
    Action.PICK,
    Action.BACK,
    Action.SEARCH,
    Action.KEEP,
    Action.DROP,
    Action.THREADS,
    Action.COMPARE,
    Action.COMPARE_END,
    Action.SORT,
    Action.COPY,
  };

  private static final Action[] KEY_LINE = {
    Action.PICK,
    Action.SORT,
    Action.THREADS,
    Action.SEARCH,
    Action.BACK,
    Action.NEXT_VIEW,
    Action.HELP,
    Action.KEEP,
    Action.DROP,
    Action.UNDO,
    Action.FREEZE,
    Action.WINDOW,
    Action.COPY,
    Action.PROCESS,
    Action.COMM,
    Action.EXPORT,
    Action.QUIT,
  };

  TasksKeys() {
    super(ACTIONS, KEY_LINE);
  }

  @Override
  public PageQuery page(ViewState s, int columns) {
    TaskTable table = s.tasks();
    return new TasksQuery(
        s.windowNanos(),
        table.threads(),
        table.order(),
        Rows.asked(table.place()),
        Search.patternOf(table.filter()));
  }

  @Override
  Keys.Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case PICK -> enter(scene, s);
      case BACK -> back(s);
      case SEARCH -> SearchKeys.begun(s);
      case KEEP -> only(scene, s, s, false);
      case DROP -> only(scene, s, s, true);
      case SORT -> sorted(scene, s);
      case COMPARE, COMPARE_END -> CompareKeys.act(scene, s, action);
      case THREADS -> {
        TaskTable turned = s.tasks().turned();
        String text = turned.threads() ? "a row for each thread" : "a row for each process";
        yield Keys.Step.to(s.withTasks(turned).withMessage(text, false));
      }
      case COPY -> {
        TasksReport.Row row = row(scene, s);
        yield row == null
            ? none(s)
            : Keys.Step.to(
                s, new Effect.Copy(row.commandLine().isEmpty() ? row.comm() : row.commandLine()));
      }
      default -> null;
    };
  }

  @Override
  TasksQuery.Order nextOrder(Scene scene, ViewState s) {
    return s.tasks().next(Comparison.in(scene));
  }

  @Override
  TasksQuery.Order orderAt(Scene scene, int x) {
    return TasksPainter.orderAt(scene, x);
  }

  @Override
  String label(TasksQuery.Order order) {
    return TaskTable.label(order);
  }

  @Override
  ViewState ordered(ViewState s, TasksQuery.Order order) {
    return s.withTasks(s.tasks().by(order));
  }

  @Override
  Keys.Step enter(Scene scene, ViewState s) {
    return only(scene, s, s.withView(View.GRAPH), false);
  }

  /** Shows only the marked process or thread, or all but that. */
  private Keys.Step only(Scene scene, ViewState s, ViewState shown, boolean out) {
    TasksReport.Row row = row(scene, s);
    if (row == null) {
      return none(s);
    }
    boolean thread = s.tasks().threads();
    if (row.pid() == 0 || thread && row.tid() == 0) {
      String what = thread ? "threads" : "processes";
      return Keys.Step.to(s.withMessage("these are many " + what + " that ended long ago", false));
    }
    Shape.Filter filter =
        thread
            ? new Shape.Threads(Set.of(row.tid()), false)
            : new Shape.Processes(Set.of(row.pid()), false);
    // Of two that are kept the later counts.
    return out
        ? ShapeKeys.narrowed(s, filter, true)
        : ShapeKeys.only(s, shown, filter, ShapeKeys.said(s, filter, false));
  }

  @Override
  String name(TasksReport.Row row) {
    return row.comm();
  }

  @Override
  String thing() {
    return "task";
  }

  @Override
  List<TasksReport.Row> rows(Scene scene, ViewState s) {
    return scene.page instanceof TasksReport report ? report.rows() : List.of();
  }

  @Override
  int count(Scene scene, List<TasksReport.Row> rows) {
    return scene.page instanceof TasksReport report ? report.matching() : 0;
  }

  @Override
  int marked(ViewState s, List<TasksReport.Row> rows) {
    return s.tasks().index(rows);
  }

  @Override
  int place(ViewState s, List<TasksReport.Row> rows) {
    return s.tasks().marked() == 0 ? s.tasks().place() : marked(s, rows);
  }

  @Override
  ViewState withMarked(ViewState s, TasksReport.Row row, int place) {
    return s.withTasks(s.tasks().withMarked(row, place));
  }
}
