package flametop.view;

import java.util.ArrayList;
import java.util.List;

/**
 * What keys and mouse do in a table of many rows, which a search narrows; it is in a {@link
 * TableArea}.
 *
 * @param <R> a row
 * @param <O> what rows are ordered by
 */
abstract class FilteredTableKeys<R, O> extends TableKeys<R> {
  FilteredTableKeys(Action[] actions, Action[] keyLine) {
    super(actions, keyLine);
  }

  /** What a search is completed to. */
  abstract String name(R row);

  /** What a row is. */
  abstract String thing();

  /** The order after the one that there is, of those that mean something. */
  abstract O nextOrder(Scene scene, ViewState s);

  /** The order that the head at a column of the screen stands for; null for none. */
  abstract O orderAt(Scene scene, int x);

  abstract String label(O order);

  abstract ViewState ordered(ViewState s, O order);

  /** The next order. */
  final Keys.Step sorted(Scene scene, ViewState s) {
    return sorted(s, nextOrder(scene, s));
  }

  private Keys.Step sorted(ViewState s, O order) {
    return Keys.Step.to(ordered(s, order).withMessage("first by " + label(order), false));
  }

  @Override
  final Keys.Step sortAt(Scene scene, ViewState s, int x) {
    O order = orderAt(scene, x);
    return order == null
        ? Keys.Step.to(s.withMessage("no order of that column", false))
        : sorted(s, order);
  }

  /** The answer where no row is marked. */
  final Keys.Step none(ViewState s) {
    return Keys.Step.to(s.withMessage("no " + thing() + " is marked yet", false));
  }

  /** The marked row; null if there is none. */
  final R row(Scene scene, ViewState s) {
    List<R> rows = rows(scene, s);
    return rows.isEmpty() ? null : rows.get(marked(s, rows));
  }

  /** All rows again, or the graph. */
  final Keys.Step back(ViewState s) {
    return s.search() == null
        ? Keys.Step.to(s.withView(View.GRAPH))
        : Keys.Step.to(s.withSearch(null).withMessage("all " + thing() + "s", false));
  }

  @Override
  public final List<String> namesInSight(Scene scene) {
    List<String> names = new ArrayList<>();
    List<R> rows = rows(scene, scene.state);
    if (!rows.isEmpty()) {
      int room = room(scene);
      int first = Rows.first(marked(scene.state, rows), rows.size(), room);
      for (R row : rows.subList(first, Math.min(rows.size(), first + room))) {
        if (!names.contains(name(row))) {
          names.add(name(row));
        }
      }
    }
    return names;
  }

  @Override
  public final Keys.Step searched(Scene scene, ViewState kept) {
    return Keys.Step.to(kept);
  }

  @Override
  final int room(Scene scene) {
    return TableArea.of(scene).room;
  }

  @Override
  final int crumbRow(Scene scene) {
    return TableArea.of(scene).crumb;
  }

  @Override
  final boolean isHead(Scene scene, int y) {
    return y == TableArea.of(scene).head;
  }

  @Override
  final int rowAt(Scene scene, ViewState s, List<R> rows, int y) {
    return TableArea.of(scene).rowAt(y, marked(s, rows), rows.size());
  }
}
