package flametop.profile.tree;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Shape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The graphs of a store: the graph that everybody sees, and for as long as somebody asks for a
 * {@link Sandwich}, the two graphs that it is read from.
 *
 * @param <F> the folds
 */
public final class Graphs<F extends Fold> {
  /** A graph that nobody asked for in so long is not kept up to date any more, ns. */
  public static final long PATIENCE_NANOS = 20_000_000_000L;

  /** The callers and the callees of a function. */
  private record Halves<F extends Fold>(Function function, Graph<F> callers, Graph<F> callees) {}

  private final Store<F> store;
  private final Graph<F> graph;

  /** Null while nobody asks for a sandwich. */
  private @Nullable Halves<F> halves;

  private long asked;

  /**
   * @param shape of the graph at first
   */
  public Graphs(Store<F> store, Shape shape) {
    this.store = store;
    graph = new Graph<>(store, shape);
  }

  /** The graph that everybody sees. */
  public Graph<F> graph() {
    return graph;
  }

  /** All that there are. */
  public List<Graph<F>> all() {
    return halves == null ? List.of(graph) : List.of(graph, halves.callers, halves.callees);
  }

  /** The two of a sandwich, callers first; none if nobody asks for it. */
  public List<Graph<F>> halves() {
    return halves == null ? List.of() : List.of(halves.callers, halves.callees);
  }

  /** One of the graphs; null if nobody asks for the sandwich that it is a half of. */
  public @Nullable Graph<F> of(NodePath.Of which) {
    return switch (which) {
      case ALL -> graph;
      case CALLERS -> halves == null ? null : halves.callers;
      case CALLEES -> halves == null ? null : halves.callees;
    };
  }

  /** Whether a half of the sandwich is not yet of the shape and moment that were asked for. */
  public boolean isSandwichBehind() {
    return halves != null && (halves.callers.isBehind() || halves.callees.isBehind());
  }

  public void endSandwich() {
    halves().forEach(Graph::close);
    halves = null;
  }

  /** Ends the sandwich if nobody has asked for it for long. */
  public void endUnasked() {
    if (System.nanoTime() - asked > PATIENCE_NANOS) {
      endSandwich();
    }
  }

  /** Whether there is work for {@link #slice}. */
  public boolean isDue() {
    return graph.isDue() || halves != null && (halves.callers.isDue() || halves.callees.isDue());
  }

  /**
   * Does some of the work of the first graph that has any, until {@code deadline} ({@link
   * System#nanoTime}).
   *
   * @return whether that graph took its shape
   */
  public boolean slice(long deadline) {
    for (Graph<F> of : all()) {
      if (of.isDue()) {
        return of.slice(deadline);
      }
    }
    return false;
  }

  /** Makes the sandwich the one that a query asks for. */
  public void ask(SandwichQuery query) {
    asked = System.nanoTime();
    if (halves != null && !halves.function.equals(query.function())) {
      // That of another function is nothing to look at meanwhile.
      endSandwich();
    }
    Shape above = query.above(graph.shape());
    Shape below = query.below(graph.shape());
    if (halves == null) {
      halves = new Halves<>(query.function(), new Graph<>(store, above), new Graph<>(store, below));
    } else {
      halves.callers.shape(above);
      halves.callees.shape(below);
    }
  }

  /**
   * The sandwich of a query that was {@linkplain #ask asked} before.
   *
   * @param nanos for each half to be brought up to date
   */
  public Sandwich sandwich(SandwichQuery query, long nanos) {
    if (halves == null) {
      throw new IllegalStateException("nobody has asked for the sandwich");
    }
    halves().forEach(half -> half.shown().refresh(System.nanoTime() + nanos));
    TreeReader below = halves.callees.shown().tree().reader();
    long selected = query.selected();
    boolean above = halves.callers.pathsOf(selected) != null;
    long ofCallers = above ? selected : GraphQuery.ROOT;
    long ofCallees = above || selected == GraphQuery.ROOT ? below.heaviestBranch() : selected;
    GraphPicture upper = halves.callers.picture(query.ofCallers(ofCallers));
    GraphPicture lower = halves.callees.picture(query.ofCallees(ofCallees));
    return new Sandwich(
        query.function(),
        upper.slice(),
        lower.slice(),
        lower.total(),
        below.selfOfBranch(query.states()),
        below.totalByState(),
        above ? upper.selection() : lower.selection(),
        query.search(),
        isSandwichBehind());
  }
}
