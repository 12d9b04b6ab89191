package flametop.view.state;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.Function;
import flametop.profile.answer.HeatMap;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.QualityReport;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TopQuery;
import flametop.view.base.Colouring;
import flametop.view.base.View;
import org.jspecify.annotations.Nullable;

/** The page that each view shows beside the snapshot. */
final class Pages {
  private Pages() {}

  /**
   * The page that a view asks for, if the screen has {@code columns} cells.
   *
   * @return null if the view shows the snapshot alone
   */
  static @Nullable PageQuery of(ViewState s, int columns) {
    return switch (s.view()) {
      case GRAPH, CALLERS -> s.time().heat() ? new HeatMap.Query() : null;
      case EVENTS -> null;
      case SANDWICH -> sandwich(s, columns);
      case TOP -> functions(s);
      case TASKS -> tasks(s);
      case CPUS, IDLE -> new CpuReport.Query();
      case QUALITY -> new QualityReport.Query();
    };
  }

  private static @Nullable PageQuery sandwich(ViewState s, int columns) {
    SandwichPlace place = s.sandwich();
    Function function = place.function();
    if (function == null) {
      return null;
    }
    return new SandwichQuery(
        s.states(),
        function,
        place.callers().zoom(),
        place.callers().siblings(),
        place.callees().zoom(),
        place.callees().siblings(),
        place.place().selected(),
        columns,
        Math.max(place.callers().levels(), place.callees().levels()),
        Search.patternOf(s.search()),
        s.colouring() == Colouring.STATE);
  }

  private static PageQuery functions(ViewState s) {
    TablePlace<Function, TopQuery.Order> table = s.table(View.TOP);
    return new TopQuery(
        s.states(),
        table.orderOr(TopQuery.Order.CPU),
        Rows.asked(table.place()),
        table.marked(),
        Search.patternOf(table.filter()));
  }

  private static PageQuery tasks(ViewState s) {
    TablePlace<Long, TasksQuery.Order> table = s.table(View.TASKS);
    return new TasksQuery(
        table.second(),
        table.ended(),
        table.orderOr(TasksQuery.Order.CPU),
        Rows.asked(table.place()),
        Search.patternOf(table.filter()));
  }
}
