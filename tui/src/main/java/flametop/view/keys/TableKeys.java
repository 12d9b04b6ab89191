package flametop.view.keys;

import flametop.view.base.Action;
import flametop.view.base.Mouse;
import flametop.view.base.Zone;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import flametop.view.state.Rows;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;

/**
 * What keys and mouse do in the rows of a table.
 *
 * @param <R> a row
 * @param <C> what names a column
 * @param <O> what rows are ordered by
 */
public abstract class TableKeys<R, C, O> implements ViewKeys {
  @Override
  public final Step act(Scene scene, ViewState s, Action action) {
    int by = Rows.by(action, layout(scene).room());
    return by == 0 ? acted(scene, s, action) : move(scene, s, by);
  }

  /** Does one of its own actions; null for another. */
  abstract Step acted(Scene scene, ViewState s, Action action);

  /** The rows that are there, in their order. */
  abstract List<R> rows(Scene scene, ViewState s);

  /** How many there are, those included that were not asked for. */
  int count(Scene scene, List<R> rows) {
    return rows.size();
  }

  /** Index of the marked row, of one or more. */
  abstract int marked(ViewState s, List<R> rows);

  /** Where the mark is, or will be when the row that it is to be on has come. */
  int place(ViewState s, List<R> rows) {
    return marked(s, rows);
  }

  /**
   * @param row null if what is there was not asked for yet
   */
  abstract ViewState withMarked(ViewState s, R row, int place);

  /** Where heads and rows stand. */
  abstract TableLayout<C> layout(Scene scene);

  /** The order that the head of a column stands for; null for none. */
  abstract O order(C column);

  /** The order after the one that there is, of those that mean something. */
  abstract O nextOrder(Scene scene, ViewState s);

  abstract String label(O order);

  abstract ViewState ordered(ViewState s, O order);

  /** What a second click on the marked row does. */
  abstract Step enter(Scene scene, ViewState s);

  /** The next order. */
  final Step sorted(Scene scene, ViewState s) {
    return sorted(s, nextOrder(scene, s));
  }

  private Step sorted(ViewState s, O order) {
    return Step.to(ordered(s, order).withMessage("first by " + label(order), false));
  }

  private Step move(Scene scene, ViewState s, int by) {
    List<R> rows = rows(scene, s);
    if (rows.isEmpty()) {
      return Step.to(s.withMessage("nothing to move in yet", false));
    }
    int last = count(scene, rows) - 1;
    int at = Math.min(last, place(s, rows));
    int to = Rows.moved(at, by, last);
    if (to == at) {
      return Rows.end(s, by);
    }
    return Step.to(withMarked(s, to < rows.size() ? rows.get(to) : null, to));
  }

  /** A click marks a row, a second enters it; one on a head sorts by it. */
  @Override
  public final Step mouse(Scene scene, ViewState s, Mouse mouse) {
    if (mouse.wheel() != 0) {
      return move(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    TableLayout<C> layout = layout(scene);
    if (mouse.y() == layout.heading().crumb) {
      return ShapeKeys.crumbAt(scene, s, mouse.x(), mouse.y());
    }
    if (mouse.y() == layout.head()) {
      C column = Zone.at(layout.heads(), mouse.x(), mouse.y());
      O order = column == null ? null : order(column);
      return order == null ? Step.answer(s, "no order of that column") : sorted(s, order);
    }
    List<R> rows = rows(scene, s);
    Integer row = Zone.at(layout.rows(scene.columns), mouse.x(), mouse.y());
    if (row == null) {
      return null;
    }
    ViewState marked = withMarked(s, rows.get(row), row);
    return mouse.kind() == Mouse.Kind.DOUBLE ? enter(scene, marked) : Step.to(marked);
  }
}
