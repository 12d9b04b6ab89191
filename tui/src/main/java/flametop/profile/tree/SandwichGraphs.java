package flametop.profile.tree;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Shape;
import java.util.List;

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

  /** Of the callers and of the callees; empty if there are none. */
  private List<G> both = List.of();

  /** In the middle; null if there are no graphs. */
  private Function function;

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
    if (!query.function().equals(function)) {
      // That of another function is nothing to look at meanwhile.
      end();
    }
    Shape above = query.above(shape);
    Shape below = query.below(shape);
    if (both.isEmpty()) {
      both = List.of(begins.graph(above), begins.graph(below));
      function = query.function();
    } else {
      callers().shape(above);
      callees().shape(below);
    }
  }

  /** Both, or none if they are not asked for. */
  public List<G> both() {
    return both;
  }

  /** Null if they are not asked for. */
  public G callers() {
    return both.isEmpty() ? null : both.get(0);
  }

  /** Null if they are not asked for. */
  public G callees() {
    return both.isEmpty() ? null : both.get(1);
  }

  /** Whether one is not yet what it is to be. */
  public boolean isBehind() {
    for (G graph : both) {
      if (graph.isBehind()) {
        return true;
      }
    }
    return false;
  }

  public void end() {
    both.forEach(ShownGraph::close);
    both = List.of();
    function = null;
  }

  public void endUnasked() {
    if (!both.isEmpty() && System.nanoTime() - asked > PATIENCE_NANOS) {
      end();
    }
  }

  /**
   * What a query asks.
   *
   * @param below of the callees
   */
  public Sandwich picture(SandwichQuery query, TreeReader below, Reads<G> reads) {
    long selected = query.selected();
    boolean above = callers().has(selected);
    long ofCallers = above ? selected : GraphQuery.ROOT;
    long ofCallees = above || selected == GraphQuery.ROOT ? below.heaviestBranch() : selected;
    GraphPicture upper = reads.picture(callers(), query.ofCallers(ofCallers));
    GraphPicture lower = reads.picture(callees(), query.ofCallees(ofCallees));
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
