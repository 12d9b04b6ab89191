package flametop.view;

import flametop.profile.answer.Function;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import java.util.List;

/** What the keys do in the view of the functions. */
final class TopKeys extends FilteredTableKeys<TopReport.Row, TopQuery.Order> {
  private static final Action[] ACTIONS = {
    Action.OPEN,
    Action.BACK,
    Action.SEARCH,
    Action.KEEP,
    Action.DROP,
    Action.COMPARE,
    Action.COMPARE_END,
    Action.SORT,
    Action.STATES,
    Action.COPY,
  };

  private static final Action[] KEY_LINE = {
    Action.OPEN,
    Action.SORT,
    Action.SEARCH,
    Action.BACK,
    Action.NEXT_VIEW,
    Action.KEEP,
    Action.DROP,
    Action.UNDO,
    Action.HELP,
    Action.FREEZE,
    Action.STATES,
    Action.WINDOW,
    Action.COPY,
    Action.PROCESS,
    Action.COMM,
    Action.EXPORT,
    Action.QUIT,
  };

  TopKeys() {
    super(ACTIONS, KEY_LINE);
  }

  @Override
  public PageQuery page(ViewState s, int columns) {
    TopTable table = s.top();
    return new TopQuery(
        s.windowNanos(),
        s.states(),
        table.order(),
        Rows.asked(table.place()),
        table.marked(),
        Search.patternOf(table.filter()));
  }

  @Override
  Keys.Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case OPEN -> enter(scene, s);
      case BACK -> back(s);
      case SEARCH -> SearchKeys.begun(s);
      case KEEP -> through(scene, s, false);
      case DROP -> through(scene, s, true);
      case SORT -> sorted(scene, s);
      case COMPARE, COMPARE_END -> CompareKeys.act(scene, s, action);
      case STATES -> Keys.states(s);
      case COPY -> {
        Function function = function(scene, s);
        yield function == null ? none(s) : Keys.Step.to(s, new Effect.Copy(function.name()));
      }
      default -> null;
    };
  }

  @Override
  TopQuery.Order nextOrder(Scene scene, ViewState s) {
    return s.top().next(scene.options.origin() != Origin.FILE, Comparison.in(scene));
  }

  @Override
  TopQuery.Order orderAt(Scene scene, int x) {
    return TopPainter.orderAt(scene, x);
  }

  @Override
  String label(TopQuery.Order order) {
    return TopTable.label(order);
  }

  @Override
  ViewState ordered(ViewState s, TopQuery.Order order) {
    return s.withTop(s.top().by(order));
  }

  private Keys.Step through(Scene scene, ViewState s, boolean out) {
    Function function = function(scene, s);
    if (function == null) {
      return none(s);
    }
    return ShapeKeys.narrowed(s, new Shape.Through(function, false), out);
  }

  /** The sandwich of the function. */
  @Override
  Keys.Step enter(Scene scene, ViewState s) {
    Function function = function(scene, s);
    return function == null ? none(s) : Keys.Step.to(s.withSandwich(function));
  }

  /** The marked one; null if there is none. */
  private Function function(Scene scene, ViewState s) {
    TopReport.Row row = row(scene, s);
    return row == null ? null : row.function();
  }

  @Override
  String name(TopReport.Row row) {
    return row.function().name();
  }

  @Override
  String thing() {
    return "function";
  }

  @Override
  List<TopReport.Row> rows(Scene scene, ViewState s) {
    return scene.page instanceof TopReport report ? report.rows() : List.of();
  }

  @Override
  int count(Scene scene, List<TopReport.Row> rows) {
    return scene.page instanceof TopReport report ? report.matching() : 0;
  }

  @Override
  int marked(ViewState s, List<TopReport.Row> rows) {
    return s.top().index(rows);
  }

  @Override
  int place(ViewState s, List<TopReport.Row> rows) {
    return s.top().marked() == null ? s.top().place() : marked(s, rows);
  }

  @Override
  ViewState withMarked(ViewState s, TopReport.Row row, int place) {
    return s.withTop(s.top().withMarked(row == null ? null : row.function(), place));
  }
}
