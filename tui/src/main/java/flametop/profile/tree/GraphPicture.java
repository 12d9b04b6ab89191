package flametop.profile.tree;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The part of a {@link Snapshot} that is of the graph.
 *
 * @param version of what it is of
 * @param zoom node that the slice is of
 * @param selected node that the selection is of
 * @param search matches in the whole graph; null if the query looks for nothing
 */
public record GraphPicture(
    GraphQuery query,
    long version,
    int zoom,
    int selected,
    GraphSlice slice,
    Selection selection,
    Snapshot.@Nullable Search search,
    long total) {

  /** Whether something is still being looked for. */
  private boolean isDue() {
    return selection.before() == null;
  }

  /**
   * The next one.
   *
   * @param before the picture before, whose unchanged parts are taken over; null if there is none
   * @param of what is shown
   * @param first first of the siblings that are wanted; 0 for all
   * @param last like {@code first}
   */
  static GraphPicture of(
      @Nullable GraphPicture before,
      GraphQuery query,
      long version,
      Fold of,
      int zoom,
      int selected,
      int first,
      int last,
      long budget) {
    ShapedTree tree = of.tree();
    boolean unchanged =
        before != null && before.version == version && before.query.states().equals(query.states());
    GraphPicture same = unchanged ? before : null;
    GraphPicture found =
        same != null && Matches.same(same.query.search(), query.search()) ? same : null;
    GraphSlice slice =
        found != null
                && found.zoom == zoom
                && found.query.columns() == query.columns()
                && found.query.levels() == query.levels()
                && found.query.byState() == query.byState()
                && Objects.equals(found.query.siblings(), query.siblings())
            ? found.slice
            : tree.reader().slice(query, zoom, first, last);
    Selection selection =
        same != null && same.selected == selected && !same.isDue()
            ? same.selection
            : of.selection(selected, query.states(), budget);
    Snapshot.Search search = null;
    if (query.search() != null) {
      search = found != null ? found.search : tree.search(query.search(), query.states());
    }
    return new GraphPicture(
        query,
        version,
        zoom,
        selected,
        slice,
        selection,
        search,
        same != null ? same.total : tree.reader().total(query.states()));
  }
}
