package flametop.view.keys;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Selection;
import flametop.view.base.Action;
import flametop.view.base.Mouse;
import flametop.view.base.View;
import flametop.view.layout.Geometry;
import flametop.view.layout.Plot;
import flametop.view.layout.SandwichLayout;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Place;
import flametop.view.state.SandwichPlace;
import flametop.view.state.Search;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a sandwich. In each half they do the same as in a graph; they go from half to half
 * through the function.
 */
public final class SandwichKeys implements ViewKeys {
  private final GraphKeys graph = new GraphKeys();

  @Override
  public @Nullable Step act(Scene scene, ViewState s, Action action) {
    Function function = s.sandwich().function();
    return switch (action) {
      case UP, DOWN, PAGE_UP, PAGE_DOWN -> vertical(scene, s, action);
      case FIRST ->
          scene.plot.atBase() ? Step.answer(s, "already at the function") : Step.to(atFunction(s));
      case ZOOM ->
          scene.sandwich != null && scene.plot.atBase() ? root(s) : GraphKeys.zoomIn(scene, s);
      case ROOT -> root(s);
      case BACK -> back(s);
      case SANDWICH -> choose(scene, s);
      case NEXT_MATCH -> match(scene, s, 1);
      case PREVIOUS_MATCH -> match(scene, s, -1);
      case COPY ->
          function != null && scene.sandwich != null && scene.plot.atBase()
              ? Step.to(s, new Effect.Copy(function.name()))
              : graph.act(scene, s, action);
      case SIBLINGS -> Step.answer(s, "in a sandwich boxes stand by name");
      case FLIP -> Step.answer(s, "callers grow upwards, callees downwards: nothing to flip");
      case LEFT, RIGHT, LAST, SEARCH, COMPARE, COMPARE_END, STATES, COLOUR ->
          graph.act(scene, s, action);
      case GROUP, THREADS ->
          Step.answer(s, "one function is in the middle: a sandwich is not grouped");
      case KEEP, DROP, MERGE, COLLAPSE, FOLD_RUNTIMES, SHOW_SLEEPERS ->
          ShapeKeys.act(scene, s, action);
      default -> null;
    };
  }

  @Override
  public @Nullable Step mouse(Scene scene, ViewState s, Mouse mouse) {
    Step crumb = ShapeKeys.mouse(scene, s, mouse);
    SandwichLayout layout = scene.sandwich;
    if (crumb != null || layout == null) {
      return crumb;
    }
    if (mouse.y() == layout.middle() && mouse.wheel() == 0) {
      return !mouse.isPress()
          ? null
          : mouse.kind() == Mouse.Kind.DOUBLE ? root(s) : Step.to(atFunction(s));
    }
    boolean below = mouse.y() > layout.middle();
    if (below == s.sandwich().below()) {
      return GraphMouse.act(scene, s, mouse);
    }
    ViewState other = s.withSandwich(s.sandwich().at(below));
    Step step = GraphMouse.act(scene.with(other), other, mouse);
    // The wheel scrolls the half below the mouse. The keys stay in their half, unless something was
    // chosen.
    return step == null || mouse.isPress()
        ? step
        : new Step(step.state().withSandwich(step.state().sandwich().at(!below)), step.effects());
  }

  /** Puts the selected function into the middle, in every view with a graph. */
  static Step choose(Scene scene, ViewState s) {
    Plot plot = scene.plot;
    if (plot.selectedBox < 0) {
      return Step.answer(s, "nothing to choose from yet");
    }
    Geometry g = plot.geometry;
    if (g.isRun(plot.selectedBox)) {
      return Step.answer(s, "frames too thin to draw have no name; enter opens them");
    }
    boolean inside = s.view() == View.SANDWICH;
    if (inside && plot.atBase()) {
      return Step.answer(s, "this function is in the middle; choose a caller or a callee");
    }
    NodeKind kind = g.slice().kind()[g.node(plot.selectedBox)];
    if (!isCode(kind)) {
      return Step.answer(s, "a sandwich needs a function: select one, then s");
    }
    Function function = selected(scene, s);
    if (function != null) {
      return Step.to(s.withSandwich(function));
    }
    // The module comes with the next picture.
    return Step.to(s.awaiting(Action.SANDWICH));
  }

  /**
   * After a picture came, puts the selected function of the graph into the middle, if nothing is
   * there yet.
   */
  public static ViewState arrived(Scene scene, ViewState s) {
    SandwichPlace place = s.sandwich();
    if (s.view() != View.SANDWICH || place.function() != null || scene.snapshot.isOpening()) {
      return s;
    }
    Function function = function(scene.snapshot.selection(), s.inGraph().selected());
    return function == null ? s : s.withView(place.from()).withSandwich(function);
  }

  /** The selected function of a graph; null for none, or until it is known. */
  public static @Nullable Function selected(Scene scene, ViewState s) {
    return function(scene.selection(), s.selected());
  }

  /** The function of a selection; null if the selection is of another node, or of no code. */
  private static @Nullable Function function(Selection selection, long node) {
    if (selection.node() != node || !isCode(selection.kind())) {
      return null;
    }
    String[] path = selection.path();
    return new Function(selection.kind(), selection.module(), path[path.length - 1]);
  }

  private static boolean isCode(NodeKind kind) {
    return kind != NodeKind.ROOT && !kind.isOwner();
  }

  private static ViewState atFunction(ViewState s) {
    return s.withSelected(GraphQuery.ROOT, List.of(GraphQuery.ROOT));
  }

  /** Moves up or down, and from the function into the other half. */
  private static Step vertical(Scene scene, ViewState s, Action action) {
    boolean up = action == Action.UP || action == Action.PAGE_UP;
    if (scene.sandwich == null || !scene.plot.atBase() || up != s.sandwich().below()) {
      return GraphKeys.vertical(scene, s, action);
    }
    ViewState other = atFunction(s.withSandwich(s.sandwich().at(!up)));
    Step step = GraphKeys.vertical(scene.with(other), other, action);
    return step.state().message().isEmpty() ? step : Step.answer(s, step.state().message());
  }

  private static Step root(ViewState s) {
    SandwichPlace place = s.sandwich();
    return place.callers().zooms().isEmpty() && place.callees().zooms().isEmpty()
        ? Step.answer(s, "nothing is zoomed")
        : Step.answer(s.withSandwich(place.unzoomed()), "all callers and callees");
  }

  private static Step back(ViewState s) {
    if (s.search() != null) {
      return Step.answer(s.withSearch(null), "search closed");
    }
    SandwichPlace place = s.sandwich();
    boolean elsewhere = place.place().zooms().isEmpty();
    Place zoomed = elsewhere ? place.at(!place.below()).place() : place.place();
    int zooms = zoomed.zooms().size();
    if (zooms > 0) {
      Place wider = zoomed.withZooms(zoomed.zooms().subList(0, zooms - 1));
      return Step.to(
          s.withSandwich(
              elsewhere
                  ? place.at(!place.below()).with(wider).at(place.below())
                  : place.with(wider)));
    }
    SandwichPlace before = place.back();
    return Step.to(before == null ? s.withView(place.from()) : s.withSandwich(before));
  }

  /** Goes on to the next drawn match, from the outermost callers to the innermost callees. */
  @Override
  public Step match(Scene scene, ViewState s, int direction) {
    Search search = s.search();
    if (search == null || search.pattern() == null) {
      return Step.answer(s, "no search; / begins one");
    }
    if (scene.sandwich == null || !scene.answered()) {
      return Step.answer(s.withSearch(search.awaiting(direction)), "searching…");
    }
    int[] found = scene.sandwich.matches();
    if (found.length == 0) {
      return GraphKeys.noMatch(scene, s, search, direction);
    }
    int at =
        scene.plot.atBase() ? 0 : SandwichLayout.order(s.sandwich().below(), scene.selectedBox);
    int index = Arrays.binarySearch(found, at);
    int next = index >= 0 ? index + direction : direction > 0 ? -index - 1 : -index - 2;
    next = Math.floorMod(next, found.length);
    String where = "match " + (next + 1) + " of " + found.length;
    if (found[next] == 0) {
      return Step.answer(atFunction(s), where);
    }
    ViewState there = s.withSandwich(s.sandwich().at(found[next] > 0));
    return Step.answer(GraphKeys.selectBox(scene.with(there), there, Math.abs(found[next])), where);
  }
}
