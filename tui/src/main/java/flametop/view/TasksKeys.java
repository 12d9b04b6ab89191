package flametop.view;

import flametop.profile.PageQuery;
import flametop.profile.Shape;
import flametop.profile.TasksQuery;
import flametop.profile.TasksReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What the keys do in the view of the tasks. */
final class TasksKeys extends TableKeys<TasksReport.Row> {
  private static final Action[] ACTIONS = {
    Action.DOWN,
    Action.UP,
    Action.PAGE_UP,
    Action.PAGE_DOWN,
    Action.FIRST,
    Action.LAST,
    Action.PICK,
    Action.BACK,
    Action.SEARCH,
    Action.KEEP,
    Action.DROP,
    Action.THREADS,
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

  @Override
  public Action[] actions() {
    return ACTIONS;
  }

  @Override
  public Action[] keyLine(ViewState s) {
    return KEY_LINE;
  }

  @Override
  public PageQuery page(ViewState s, int columns) {
    TaskTable table = s.tasks();
    return new TasksQuery(
        s.windowNanos(),
        table.threads(),
        table.order(),
        Rows.asked(table.place()),
        Search.pattern(table.filter()));
  }

  @Override
  public Keys.Step act(Scene scene, ViewState s, Action action) {
    Keys.Step moved = moved(scene, s, action);
    if (moved != null) {
      return moved;
    }
    return switch (action) {
      case PICK -> enter(scene, s);
      case BACK ->
          s.search() == null
              ? Keys.Step.to(s.withView(View.GRAPH))
              : Keys.Step.to(s.withSearch(null).withMessage("all tasks", false));
      case SEARCH -> SearchKeys.begun(s);
      case KEEP -> only(scene, s, s, false);
      case DROP -> only(scene, s, s, true);
      case SORT -> sorted(s, s.tasks().resorted());
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

  private static Keys.Step sorted(ViewState s, TaskTable table) {
    return Keys.Step.to(
        s.withTasks(table).withMessage("first by " + TaskTable.label(table.order()), false));
  }

  @Override
  Keys.Step sortAt(Scene scene, ViewState s, int x) {
    TasksQuery.Order order = TasksPainter.orderAt(scene, x);
    return order == null
        ? Keys.Step.to(s.withMessage("no order of that column", false))
        : sorted(s, s.tasks().by(order));
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
    Shape next = out ? s.filter().plus(filter.with(true)) : s.filter().with(filter);
    return next.equals(s.filter())
        ? Keys.Step.to(shown.withMessage("shown already", false))
        : Keys.Step.to(shown.withFilter(next).withMessage(ShapeKeys.said(s, filter, out), false));
  }

  private static Keys.Step none(ViewState s) {
    return Keys.Step.to(s.withMessage("no task is marked yet", false));
  }

  /** The marked one; null if there is none. */
  private TasksReport.Row row(Scene scene, ViewState s) {
    List<TasksReport.Row> rows = rows(scene, s);
    return rows.isEmpty() ? null : rows.get(marked(s, rows));
  }

  @Override
  public List<String> namesInSight(Scene scene) {
    List<String> names = new ArrayList<>();
    List<TasksReport.Row> rows = rows(scene, scene.state);
    if (!rows.isEmpty()) {
      int room = room(scene);
      int first = Rows.first(marked(scene.state, rows), rows.size(), room);
      for (TasksReport.Row row : rows.subList(first, Math.min(rows.size(), first + room))) {
        if (!names.contains(row.comm())) {
          names.add(row.comm());
        }
      }
    }
    return names;
  }

  @Override
  public Keys.Step searched(Scene scene, ViewState kept) {
    return Keys.Step.to(kept);
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

  @Override
  int room(Scene scene) {
    return TableArea.of(scene).room;
  }

  @Override
  int crumbRow(Scene scene) {
    return TableArea.of(scene).crumb;
  }

  @Override
  boolean isHead(Scene scene, int y) {
    return y == TableArea.of(scene).head;
  }

  @Override
  int rowAt(Scene scene, ViewState s, List<TasksReport.Row> rows, int y) {
    return TableArea.of(scene).rowAt(y, marked(s, rows), rows.size());
  }
}
