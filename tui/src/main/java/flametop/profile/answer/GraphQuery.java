package flametop.profile.answer;

import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A question for one picture of the graph. The screen asks; the thread of the profile or file
 * answers with a {@link Snapshot}.
 *
 * @param states whose time counts
 * @param zoom node that fills the width; {@link #ROOT} for all
 * @param selected node whose {@link Selection} is wanted; {@link #ROOT} if none
 * @param columns width in cells; children narrower than an eighth of a cell are summed up, not
 *     listed
 * @param levels how many levels below the zoomed node are wanted
 * @param search matches names anywhere in the graph; null for none
 * @param byState {@link GraphSlice#state} is wanted
 * @param siblings only these children of the zoomed node are wanted, and they fill the width; null:
 *     all of them
 * @param bySize siblings stand by their size, the largest first; else by name
 */
public record GraphQuery(
    StateSet states,
    long zoom,
    long selected,
    int columns,
    int levels,
    @Nullable Pattern search,
    boolean byState,
    @Nullable Siblings siblings,
    boolean bySize) {
  /** All children by name, without states by node. */
  public GraphQuery(
      StateSet states,
      long zoom,
      long selected,
      int columns,
      int levels,
      @Nullable Pattern search) {
    this(states, zoom, selected, columns, levels, search, false, null, false);
  }

  /** The root of the graph. Other nodes are opaque numbers, stable while they live. */
  public static final long ROOT = 0;

  /** The same of other nodes. */
  public GraphQuery at(long zoomed, long selectedNode) {
    return new GraphQuery(
        states, zoomed, selectedNode, columns, levels, search, byState, siblings, bySize);
  }

  /** Whether both ask for the same, whatever is selected in it. */
  public boolean isOfSameGraph(GraphQuery query) {
    return states.equals(query.states)
        && zoom == query.zoom
        && columns == query.columns
        && levels == query.levels
        && search == query.search
        && byState == query.byState
        && bySize == query.bySize
        && Objects.equals(siblings, query.siblings);
  }

  // A record's own are made when they are first used, which costs the first key 20 ms.
  @Override
  public boolean equals(Object other) {
    return other instanceof GraphQuery query && isOfSameGraph(query) && selected == query.selected;
  }

  @Override
  public int hashCode() {
    return Long.hashCode(zoom) ^ Long.hashCode(31 * selected) ^ columns;
  }
}
