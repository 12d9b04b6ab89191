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
  boolean isDue() {
    return selection.before() == null;
  }

  /** Whether another query wants the same slice, of a graph that did not change. */
  boolean hasSlice(GraphQuery other, int otherZoom) {
    return zoom == otherZoom
        && query.columns() == other.columns()
        && query.levels() == other.levels()
        && query.byState() == other.byState()
        && Objects.equals(query.siblings(), other.siblings());
  }
}
