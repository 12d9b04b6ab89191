package flametop.view.state;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.HeatMap;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.QualityReport;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.SplitAnswer;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TopQuery;
import flametop.view.base.Colouring;
import flametop.view.base.View;
import org.jspecify.annotations.Nullable;

/** The questions to the profile: for the picture, and for the page that a view shows beside it. */
public final class Questions {
  private Questions() {}

  /** The question for a picture of {@code columns} cells. */
  public static GraphQuery picture(ViewState s, int columns) {
    Place place = s.inView();
    return new GraphQuery(
        s.states(),
        place.zoom(),
        place.selected(),
        s.isSplit(columns) ? Split.pane(columns) : columns,
        place.levels(),
        Search.patternOf(s.searchInGraph()),
        s.colouring() == Colouring.STATE,
        place.siblings(),
        s.bySize() && s.view() != View.SANDWICH);
  }

  /** The question for the page beside the graph; null for no page. */
  public static @Nullable PageQuery page(ViewState s, int columns) {
    Split split = s.split();
    return split != null && s.isSplit(columns)
        ? new SplitAnswer.Query(
            split.other(), s.shape(), picture(s, columns), ofView(s, Split.pane(columns)))
        : ofView(s, columns);
  }

  /** The page that the view asks for; null if the view shows the snapshot alone. */
  private static @Nullable PageQuery ofView(ViewState s, int columns) {
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
