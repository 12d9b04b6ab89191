package flametop.profile.tree;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import java.util.Objects;
import java.util.regex.Pattern;
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

  /** Reads what a picture shows. */
  public interface Reader {
    /** What needs no more than the tree. */
    TreeReader tree();

    /**
     * The node in full.
     *
     * @param budget ns for what may take long; 0: that is left out
     */
    Selection selection(int node, StateSet states, long budget);

    /** What matches in the whole graph. */
    Snapshot.Search search(Pattern pattern, StateSet states);
  }

  /** Whether something is still being looked for. */
  private boolean isDue() {
    return selection.before() == null;
  }

  /**
   * The next one.
   *
   * @param before the picture before, whose unchanged parts are taken over; null if there is none
   * @param first first of the siblings that are wanted; 0 for all
   * @param last like {@code first}
   */
  static GraphPicture of(
      @Nullable GraphPicture before,
      GraphQuery query,
      long version,
      Reader reader,
      int zoom,
      int selected,
      int first,
      int last,
      Matches matches,
      long budget) {
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
            : reader.tree().slice(query, zoom, first, last, matches);
    Selection selection =
        same != null && same.selected == selected && !same.isDue()
            ? same.selection
            : reader.selection(selected, query.states(), budget);
    Snapshot.Search search = null;
    if (query.search() != null) {
      search = found != null ? found.search : reader.search(query.search(), query.states());
    }
    return new GraphPicture(
        query,
        version,
        zoom,
        selected,
        slice,
        selection,
        search,
        same != null ? same.total : reader.tree().total(query.states()));
  }
}
