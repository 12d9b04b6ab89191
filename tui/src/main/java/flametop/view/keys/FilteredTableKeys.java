package flametop.view.keys;

import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.layout.TableLayout;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;

/**
 * What keys and mouse do in a table of many rows, which a search narrows; it is in a {@link
 * TableArea}.
 *
 * @param <R> a row
 * @param <C> what names a column
 * @param <O> what rows are ordered by
 */
public abstract class FilteredTableKeys<R, C, O> extends TableKeys<R, C, O> {
  /** What a search is completed to. */
  abstract String name(R row);

  /** What a row is. */
  abstract String thing();

  /** The answer where no row is marked. */
  final Step none(ViewState s) {
    return Step.to(s.withMessage("no " + thing() + " is marked yet", false));
  }

  /** The marked row; null if there is none. */
  final R row(Scene scene, ViewState s) {
    List<R> rows = rows(scene, s);
    return rows.isEmpty() ? null : rows.get(marked(s, rows));
  }

  /** All rows again, or the graph. */
  final Step back(ViewState s) {
    return s.search() == null
        ? Step.to(s.withView(View.GRAPH))
        : Step.to(s.withSearch(null).withMessage("all " + thing() + "s", false));
  }

  @Override
  public final List<String> namesInSight(Scene scene) {
    List<String> names = new ArrayList<>();
    List<R> rows = rows(scene, scene.state);
    TableLayout<C> layout = layout(scene);
    for (R row : rows.subList(layout.first(), layout.end())) {
      if (!names.contains(name(row))) {
        names.add(name(row));
      }
    }
    return names;
  }

  @Override
  public final Step searched(Scene scene, ViewState kept) {
    return Step.to(kept);
  }
}
