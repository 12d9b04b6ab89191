package flametop.view.state;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.view.base.View;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the user is: the view, and a place in each graph. Immutable.
 *
 * @param graph the place in the graph
 * @param callers the place in the graph with innermost frames first
 * @param sandwich the function of the sandwich, and the places in its halves
 * @param brought the functions that went along from the graph to other views
 */
record Navigation(View view, Place graph, Place callers, SandwichPlace sandwich, Brought brought) {
  static final Navigation START =
      new Navigation(View.GRAPH, Place.ROOT, Place.ROOT, SandwichPlace.NONE, Brought.NOTHING);

  /** The place that the keys act on: in a sandwich, the place in one of both halves. */
  Place place() {
    return view == View.SANDWICH ? sandwich.place() : inView();
  }

  /** The place in the graph of this view, which has outermost frames first, or innermost. */
  Place inView() {
    return view == View.CALLERS ? callers : graph;
  }

  Navigation with(Place value) {
    return switch (view) {
      case SANDWICH -> with(sandwich.with(value));
      case CALLERS -> new Navigation(view, graph, value, sandwich, brought);
      default -> withGraph(value);
    };
  }

  /** The same at another place in the graph, whatever view is shown. */
  Navigation withGraph(Place value) {
    return new Navigation(view, value, callers, sandwich, brought);
  }

  Navigation with(SandwichPlace value) {
    return new Navigation(view, graph, callers, value, brought);
  }

  Navigation with(Brought value) {
    return new Navigation(view, graph, callers, sandwich, value);
  }

  /** The same with another view. */
  Navigation with(View value) {
    return new Navigation(value, graph, callers, sandwich, brought.notBringing());
  }

  /**
   * The same with another view, which selects a function if the view can show one. The selection
   * there stays if this function was brought there the last time.
   *
   * @param function null for none, or until the function is known
   */
  Navigation with(View value, @Nullable Function function) {
    Navigation next = with(value);
    boolean same = function != null && function.equals(brought.toCallers());
    if (value == View.CALLERS && graph.selected() != GraphQuery.ROOT && !same) {
      Place found = Place.ROOT.withSelected(graph.selected(), Place.ROOT.trail());
      return new Navigation(value, graph, found, sandwich, next.brought.toCallers(function));
    }
    return value == View.TOP && (view == View.GRAPH || function != null)
        ? next.with(next.brought.bringing(function))
        : next;
  }

  /** The same at the root of everything. */
  Navigation atRoot() {
    return new Navigation(
        view, Place.ROOT, Place.ROOT, sandwich.atFunction(), brought.toCallers(null));
  }

  /** The same with nothing zoomed: each graph is shown whole. */
  Navigation unzoomed() {
    return new Navigation(
        view,
        graph.withZooms(List.of()),
        callers.withZooms(List.of()),
        sandwich.unzoomed(),
        brought);
  }
}
