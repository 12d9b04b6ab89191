package flametop.view.keys;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Function;
import flametop.profile.answer.Shape;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.view.base.Action;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import flametop.view.layout.TopLayout;
import flametop.view.state.Effect;
import flametop.view.state.Step;
import flametop.view.state.TopTable;
import flametop.view.state.ViewState;
import java.util.List;

/** What the keys do in the view of the functions. */
public final class TopKeys
    extends FilteredTableKeys<TopReport.Row, TopLayout.Column, TopQuery.Order> {
  @Override
  Step acted(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case OPEN -> enter(scene, s);
      case BACK -> back(s);
      case SEARCH -> SearchKeys.begun(s);
      case KEEP -> through(scene, s, false);
      case DROP -> through(scene, s, true);
      case SORT -> sorted(scene, s);
      case COMPARE, COMPARE_END -> CompareKeys.act(scene, s, action);
      case STATES -> CommonKeys.states(s);
      case COPY -> {
        Function function = function(scene, s);
        yield function == null ? none(s) : Step.to(s, new Effect.Copy(function.name()));
      }
      default -> null;
    };
  }

  @Override
  TopQuery.Order nextOrder(Scene scene, ViewState s) {
    return s.top().next(scene.options.origin().has(Capability.STATES), scene.compares());
  }

  @Override
  TableLayout<TopLayout.Column> layout(Scene scene) {
    return TopLayout.of(scene);
  }

  @Override
  TopQuery.Order order(TopLayout.Column column) {
    return column.order;
  }

  @Override
  String label(TopQuery.Order order) {
    return TopTable.label(order);
  }

  @Override
  ViewState ordered(ViewState s, TopQuery.Order order) {
    return s.withTop(s.top().by(order));
  }

  private Step through(Scene scene, ViewState s, boolean out) {
    Function function = function(scene, s);
    if (function == null) {
      return none(s);
    }
    return ShapeKeys.narrowed(s, new Shape.Through(function, false), out);
  }

  /** The sandwich of the function. */
  @Override
  Step enter(Scene scene, ViewState s) {
    Function function = function(scene, s);
    return function == null ? none(s) : Step.to(s.withSandwich(function));
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
