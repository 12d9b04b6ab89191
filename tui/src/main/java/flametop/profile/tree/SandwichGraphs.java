package flametop.profile.tree;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Shape;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The two graphs that a {@link Sandwich} is read from, which are there for as long as somebody asks
 * for them.
 *
 * @param <G> the graphs
 */
public final class SandwichGraphs<G extends ShownGraph<?>> {
  /** What nobody asked for in so long is not kept up to date any more, ns. */
  public static final long PATIENCE_NANOS = 20_000_000_000L;

  /** Begins the graph of a shape. */
  public interface Begins<G> {
    G graph(Shape shape);
  }

  /** Reads what a query asks of one of the graphs. */
  public interface Reads<G> {
    GraphPicture picture(G of, GraphQuery query);
  }

  private final Begins<G> begins;

  /** The callers and the callees of a function. */
  private record Halves<G>(Function function, G callers, G callees) {}

  /** Null while nobody asks for them. */
  private @Nullable Halves<G> halves;

  private long asked;

  public SandwichGraphs(Begins<G> begins) {
    this.begins = begins;
  }

  /**
   * Has them be of what a query asks.
   *
   * @param shape of the graph that it is asked in
   */
  public void ask(SandwichQuery query, Shape shape) {
    asked = System.nanoTime();
    if (halves != null && !halves.function.equals(query.function())) {
      // That of another function is nothing to look at meanwhile.
      end();
    }
    Shape above = query.above(shape);
    Shape below = query.below(shape);
    if (halves == null) {
      halves = new Halves<>(query.function(), begins.graph(above), begins.graph(below));
    } else {
      halves.callers.shape(above);
      halves.callees.shape(below);
    }
  }

  /** Both, or none if they are not asked for. */
  public List<G> both() {
    return halves == null ? List.of() : List.of(halves.callers, halves.callees);
  }

  /** Null if they are not asked for. */
  public @Nullable G callers() {
    return halves == null ? null : halves.callers;
  }

  /** Null if they are not asked for. */
  public @Nullable G callees() {
    return halves == null ? null : halves.callees;
  }

  /** Whether one is not yet what it is to be. */
  public boolean isBehind() {
    for (G graph : both()) {
      if (graph.isBehind()) {
        return true;
      }
    }
    return false;
  }

  public void end() {
    both().forEach(ShownGraph::close);
    halves = null;
  }

  public void endUnasked() {
    if (halves != null && System.nanoTime() - asked > PATIENCE_NANOS) {
      end();
    }
  }

  /**
   * What a query asks, once it was {@linkplain #ask asked for}.
   *
   * @param below of the callees
   */
  public Sandwich picture(SandwichQuery query, TreeReader below, Reads<G> reads) {
    if (halves == null) {
      throw new IllegalStateException("nobody has asked for the graphs");
    }
    long selected = query.selected();
    boolean above = halves.callers.has(selected);
    long ofCallers = above ? selected : GraphQuery.ROOT;
    long ofCallees = above || selected == GraphQuery.ROOT ? below.heaviestBranch() : selected;
    GraphPicture upper = reads.picture(halves.callers, query.ofCallers(ofCallers));
    GraphPicture lower = reads.picture(halves.callees, query.ofCallees(ofCallees));
    return new Sandwich(
        query.function(),
        upper.slice(),
        lower.slice(),
        lower.total(),
        below.selfOfBranch(query.states()),
        below.totalByState(),
        above ? upper.selection() : lower.selection(),
        query.search(),
        isBehind());
  }
}
