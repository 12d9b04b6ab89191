package flametop.profile.tree;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * The part of a {@link Snapshot} that is of the graph.
 *
 * @param version of what it is of
 * @param zoom node that the slice is of
 * @param selected node that the selection is of
 */
public record GraphPicture(
    GraphQuery query,
    long version,
    int zoom,
    int selected,
    GraphSlice slice,
    Selection selection,
    Snapshot.Search search,
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
   * @param before null if there is none; what is unchanged is taken from it
   * @param first first of the siblings that are wanted; 0 for all
   * @param last like {@code first}
   */
  static GraphPicture of(
      GraphPicture before,
      GraphQuery query,
      long version,
      Reader reader,
      int zoom,
      int selected,
      int first,
      int last,
      Matches matches,
      long budget) {
    boolean same =
        before != null && before.version == version && before.query.states().equals(query.states());
    boolean found = same && Matches.same(before.query.search(), query.search());
    GraphSlice slice =
        found
                && before.zoom == zoom
                && before.query.columns() == query.columns()
                && before.query.levels() == query.levels()
                && before.query.byState() == query.byState()
                && Objects.equals(before.query.siblings(), query.siblings())
            ? before.slice
            : reader.tree().slice(query, zoom, first, last, matches);
    Selection selection =
        same && before.selected == selected && !before.isDue()
            ? before.selection
            : reader.selection(selected, query.states(), budget);
    Snapshot.Search search = null;
    if (query.search() != null) {
      search = found ? before.search : reader.search(query.search(), query.states());
    }
    return new GraphPicture(
        query,
        version,
        zoom,
        selected,
        slice,
        selection,
        search,
        same ? before.total : reader.tree().total(query.states()));
  }
}
