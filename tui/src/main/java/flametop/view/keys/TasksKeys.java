package flametop.view.keys;

import flametop.profile.answer.Shape;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.view.base.Action;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import flametop.view.layout.TasksLayout;
import flametop.view.state.Effect;
import flametop.view.state.Step;
import flametop.view.state.TasksTable;
import flametop.view.state.ViewState;
import java.util.List;
import java.util.Set;

/** What the keys do in the view of the tasks. */
public final class TasksKeys
    extends FilteredTableKeys<TasksReport.Row, TasksLayout.Column, TasksQuery.Order> {
  @Override
  Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case PICK -> enter(scene, s);
      case BACK -> back(s);
      case SEARCH -> SearchKeys.begun(s);
      case KEEP -> only(scene, s, s, false);
      case DROP -> only(scene, s, s, true);
      case SORT -> sorted(scene, s);
      case COMPARE, COMPARE_END -> CompareKeys.act(scene, s, action);
      case THREADS -> {
        TasksTable turned = s.tasks().turned();
        String text = turned.threads() ? "a row for each thread" : "a row for each process";
        yield Step.to(s.withTasks(turned).withMessage(text, false));
      }
      case COPY -> {
        TasksReport.Row row = row(scene, s);
        yield row == null
            ? none(s)
            : Step.to(
                s, new Effect.Copy(row.commandLine().isEmpty() ? row.comm() : row.commandLine()));
      }
      default -> null;
    };
  }

  @Override
  TasksQuery.Order nextOrder(Scene scene, ViewState s) {
    return s.tasks().next(scene.compares());
  }

  @Override
  TableLayout<TasksLayout.Column> layout(Scene scene) {
    return TasksLayout.of(scene);
  }

  @Override
  TasksQuery.Order order(TasksLayout.Column column) {
    return column.order;
  }

  @Override
  String label(TasksQuery.Order order) {
    return TasksTable.label(order);
  }

  @Override
  ViewState ordered(ViewState s, TasksQuery.Order order) {
    return s.withTasks(s.tasks().by(order));
  }

  @Override
  Step enter(Scene scene, ViewState s) {
    return only(scene, s, s.withView(View.GRAPH), false);
  }

  /** Shows only the marked process or thread, or all but that. */
  private Step only(Scene scene, ViewState s, ViewState shown, boolean out) {
    TasksReport.Row row = row(scene, s);
    if (row == null) {
      return none(s);
    }
    boolean thread = s.tasks().threads();
    if (row.pid() == 0 || thread && row.tid() == 0) {
      String what = thread ? "threads" : "processes";
      return Step.to(s.withMessage("these are many " + what + " that ended long ago", false));
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
