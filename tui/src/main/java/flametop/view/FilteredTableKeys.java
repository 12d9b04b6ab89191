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
abstract class FilteredTableKeys<R, O> extends TableKeys<R, O> {
  FilteredTableKeys(Action[] actions, Action[] keyLine) {
    super(actions, keyLine);
  }

  /** What a search is completed to. */
  abstract String name(R row);

  /** What a row is. */
  abstract String thing();

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
