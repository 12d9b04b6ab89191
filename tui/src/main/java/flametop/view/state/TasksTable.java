package flametop.view.state;

import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import java.util.List;

/**
 * The table of tasks. Immutable.
 *
 * @param order what comes first
 * @param threads its rows are threads, not processes
 * @param marked the task whose row is marked, by {@link #key}; 0: it is marked by its place
 * @param place where that row was when it was marked
 * @param filter null if all are shown
 */
public record TasksTable(
    TasksQuery.Order order, boolean threads, long marked, int place, Search filter) {
  static final TasksTable FIRST = new TasksTable(TasksQuery.Order.CPU, false, 0, 0, null);

  private static final TasksQuery.Order[] ORDERS = TasksQuery.Order.values();

  /**
   * The order after this one.
   *
   * @param compared whether there is something to compare with
   */
  public TasksQuery.Order next(boolean compared) {
    TasksQuery.Order next = order.in(compared);
    do {
      next = ORDERS[(next.ordinal() + 1) % ORDERS.length];
    } while (next != next.in(compared));
    return next;
  }

  public TasksTable by(TasksQuery.Order value) {
    return new TasksTable(value, threads, marked, place, filter);
  }

  public TasksTable turned() {
    return new TasksTable(order, !threads, 0, 0, filter);
  }

  public TasksTable withMarked(TasksReport.Row row, int at) {
    return new TasksTable(order, threads, row == null ? 0 : key(row), at, filter);
  }

  TasksTable withFilter(Search value) {
    return new TasksTable(order, threads, marked, place, value);
  }

  /** What the order is called. */
  public static String label(TasksQuery.Order order) {
    return switch (order) {
      case CPU -> "time on a CPU";
      case QUEUED -> "time queued";
      case AGE -> "longest in its state";
      case PID -> "pid";
      case CHANGE -> "change";
    };
  }

  /** Who a row is, from one report to the next; of what stands for many, their comm. */
  static long key(TasksReport.Row row) {
    return row.pid() == 0
        ? -1L - Math.abs((long) row.comm().hashCode())
        : (long) row.pid() << 32 | row.tid();
  }

  /** Index of the marked row; what is gone leaves the mark where it was. */
  public int index(List<TasksReport.Row> rows) {
    for (int i = 0; marked != 0 && i < rows.size(); i++) {
      if (key(rows.get(i)) == marked) {
        return i;
      }
    }
    return Math.min(place, rows.size() - 1);
  }
}
