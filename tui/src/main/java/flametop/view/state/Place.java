package flametop.view.state;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Siblings;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the user is in a graph. Immutable.
 *
 * @param zooms the zooms, outermost first; empty for the whole graph
 * @param selected the selected node, {@link GraphQuery#ROOT} at first
 * @param trail the nodes from the root to the selected one, as last seen: the selection falls back
 *     along them when its node is gone
 * @param run whether the selection is a run of thin frames on {@code selected}: the run that holds
 *     {@code runNode}
 * @param runNode a node of that run; -1 if the slice lists none of them
 * @param scroll how many levels are hidden at the root's edge of the panel; -1: the zoom decides
 */
public record Place(
    List<Zoom> zooms, long selected, List<Long> trail, boolean run, long runNode, int scroll) {
  /**
   * How many levels a query asks for: more than a stack of 512 user and 127 kernel frames has below
   * its process.
   */
  private static final int LEVELS = 700;

  private static final int LEVELS_MORE = 256;

  public static final Place ROOT =
      new Place(List.of(), GraphQuery.ROOT, List.of(GraphQuery.ROOT), false, -1, -1);

  /** The node that fills the width. */
  public long zoom() {
    return zooms.isEmpty() ? GraphQuery.ROOT : zooms.get(zooms.size() - 1).node();
  }

  /** See {@link Zoom#siblings}. */
  public @Nullable Siblings siblings() {
    return zooms.isEmpty() ? null : zooms.get(zooms.size() - 1).siblings();
  }

  /** How many levels the query asks for, so that the selection can go on from the deepest level. */
  int levels() {
    return LEVELS + trail.size() / LEVELS_MORE * LEVELS_MORE;
  }

  /**
   * The same with other zooms. The next picture scrolls so that the zoomed node is near the edge.
   */
  public Place withZooms(List<Zoom> value) {
    return new Place(List.copyOf(value), selected, trail, run, runNode, -1);
  }

  public Place withSelected(long node, List<Long> path) {
    return new Place(zooms, node, path, false, -1, scroll);
  }

  public Place withRun(long parent, long member, List<Long> path) {
    return new Place(zooms, parent, path, true, member, scroll);
  }

  public Place withScroll(int levels) {
    return new Place(zooms, selected, trail, run, runNode, levels);
  }
}
