package flametop.profile.answer;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which callers and callees a {@link Sandwich} is to show.
 *
 * @param states whose time counts
 * @param function in the middle
 * @param callers node of the callers that fills the width; {@link GraphQuery#ROOT} for all
 * @param callersOf its {@link GraphQuery#siblings}
 * @param callees like {@code callers}
 * @param calleesOf its {@link GraphQuery#siblings}
 * @param selected node of either whose {@link Selection} is wanted; {@link GraphQuery#ROOT}: the
 *     function
 * @param columns width in cells
 * @param levels how many levels of each are wanted
 * @param search looked for in the names of what is listed; null if nothing is
 * @param byState whether the state of each node is wanted
 */
public record SandwichQuery(
    StateSet states,
    Function function,
    long callers,
    @Nullable Siblings callersOf,
    long callees,
    @Nullable Siblings calleesOf,
    long selected,
    int columns,
    int levels,
    @Nullable Pattern search,
    boolean byState)
    implements PageQuery {
  @Override
  public boolean isAnsweredBy(@Nullable Page page) {
    return page instanceof Sandwich;
  }

  /** How the callers are folded where the graph has a shape. */
  public Shape above(Shape graph) {
    return plain(graph).plus(new Shape.Callers(function));
  }

  /** The shape of the half of callees, where the graph has a shape. */
  public Shape below(Shape graph) {
    return plain(graph).plus(new Shape.Callees(function));
  }

  private static Shape plain(Shape graph) {
    return graph.without(Shape.Reverse.class).with(new Shape.Group(RootOrder.NONE));
  }

  /** The question for the half of the callers, where this node is selected. */
  public GraphQuery ofCallers(long node) {
    return of(callers, callersOf, node);
  }

  /** The question for the half of the callees, where this node is selected. */
  public GraphQuery ofCallees(long node) {
    return of(callees, calleesOf, node);
  }

  /** The same of other nodes. */
  public SandwichQuery at(long ofCallers, long ofCallees, long selectedNode) {
    return new SandwichQuery(
        states,
        function,
        ofCallers,
        callersOf,
        ofCallees,
        calleesOf,
        selectedNode,
        columns,
        levels,
        search,
        byState);
  }

  private GraphQuery of(long zoom, @Nullable Siblings siblings, long node) {
    return new GraphQuery(states, zoom, node, columns, levels, search, byState, siblings, false);
  }
}
