package flametop.view.layout;

import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import java.util.List;

/** Where the table of tasks stands. */
public final class TasksLayout {
  private static final int PERCENT = 6;

  private TasksLayout() {}

  public enum Column {
    PID(TasksQuery.Order.PID),
    STATE(null),
    AGE(TasksQuery.Order.AGE),
    BEFORE(null),
    CPU(TasksQuery.Order.CPU),
    CHANGE(TasksQuery.Order.CHANGE),
    QUEUED(TasksQuery.Order.QUEUED),
    OFF(null),
    BAR(null),
    THREADS(null),
    USER(null),
    COMM(null),
    LEAF(null),
    CALLER(null),
    COMMAND(null);

    public final TasksQuery.Order order;

    Column(TasksQuery.Order order) {
      this.order = order;
    }

    public static Column of(TasksQuery.Order order) {
      return switch (order) {
        case CPU -> CPU;
        case QUEUED -> QUEUED;
        case AGE -> AGE;
        case PID -> PID;
        case CHANGE -> CHANGE;
      };
    }
  }

  public static TableLayout<Column> of(Scene scene) {
    List<TasksReport.Row> rows =
        scene.page instanceof TasksReport report ? report.rows() : List.of();
    int marked = scene.state.tasks().index(rows);
    return TableArea.of(scene).table(columns(scene), marked, rows.size());
  }

  private static Columns<Column> columns(Scene scene) {
    int width = scene.columns;
    boolean threads = scene.state.tasks().threads();
    boolean compared = scene.compares();
    Columns<Column> columns = new Columns<>();
    columns.right(Column.PID, threads ? "tid" : "pid", 7);
    columns.left(Column.STATE, width < 70 ? "" : "state", width < 70 ? 1 : 7);
    columns.right(Column.AGE, "age", width < 50 ? -1 : PERCENT);
    columns.right(Column.BEFORE, "was", !compared || width < 100 ? -1 : PERCENT);
    columns.right(Column.CPU, "cpu", PERCENT);
    columns.right(Column.CHANGE, "change", compared ? Columns.CHANGE : -1);
    columns.right(Column.QUEUED, "queued", width < 60 ? -1 : PERCENT);
    columns.right(Column.OFF, "off", width < 150 ? -1 : 7);
    columns.left(Column.BAR, "", width < 110 ? -1 : width < 160 ? 8 : 12);
    columns.right(Column.THREADS, threads ? "" : "thr", width < 100 || threads ? -1 : 4);
    columns.left(Column.USER, "user", width < 120 ? -1 : 9);
    int room = width - 1 - columns.end();
    if (width < 100) {
      int comm = room < 20 ? room : Math.min(15, room * 2 / 5);
      columns.left(Column.COMM, "comm", comm);
      return columns.left(Column.LEAF, "  is in", room - comm - 1);
    }
    columns.left(Column.COMM, "comm", 15);
    room -= 16;
    int leaf = width < 160 ? room / 2 : Math.min(44, room / 3);
    columns.left(Column.LEAF, "  is in", leaf);
    int caller = width < 160 ? room - leaf - 1 : leaf;
    columns.left(Column.CALLER, "  called from", caller);
    return columns.left(Column.COMMAND, "command line", width < 160 ? -1 : room - 2 * leaf - 2);
  }
}
