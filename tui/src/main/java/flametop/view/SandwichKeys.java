package flametop.view;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Selection;
import java.util.Arrays;
import java.util.List;

/**
 * What the keys do in a sandwich: in each half what they do in a graph, and they go from one to the
 * other through the function.
 */
final class SandwichKeys implements ViewKeys {
  private static final Action[] ACTIONS = {
    Action.LEFT,
    Action.DOWN,
    Action.UP,
    Action.RIGHT,
    Action.PAGE_UP,
    Action.PAGE_DOWN,
    Action.FIRST,
    Action.LAST,
    Action.ZOOM,
    Action.BACK,
    Action.ROOT,
    Action.SEARCH,
    Action.NEXT_MATCH,
    Action.PREVIOUS_MATCH,
    Action.SANDWICH,
    Action.COMPARE,
    Action.COMPARE_END,
    Action.KEEP,
    Action.DROP,
    Action.MERGE,
    Action.COLLAPSE,
    Action.STATES,
    Action.COPY,
    Action.COLOUR,
  };

  private static final Action[] REFUSED = {Action.FLIP, Action.GROUP, Action.THREADS};

  private static final Action[] KEY_LINE = {
    Action.ZOOM,
    Action.BACK,
    Action.SANDWICH,
    Action.SEARCH,
    Action.FREEZE,
    Action.HELP,
    Action.NEXT_VIEW,
    Action.STATES,
    Action.WINDOW,
    Action.EXPORT,
    Action.COPY,
    Action.COLOUR,
    Action.ROOT,
    Action.QUIT,
  };

  private static final Action[] SEARCH_LINE = {
    Action.NEXT_MATCH, Action.PREVIOUS_MATCH, Action.SEARCH, Action.BACK, Action.ZOOM, Action.HELP,
  };

  private final GraphKeys graph = new GraphKeys();

  @Override
  public Action[] actions() {
    return ACTIONS;
  }

  @Override
  public Action[] refused() {
    return REFUSED;
  }

  @Override
  public Action[] keyLine(ViewState s) {
    return s.search() == null ? KEY_LINE : SEARCH_LINE;
  }

  @Override
  public PageQuery page(ViewState s, int columns) {
    SandwichPlace place = s.sandwich();
    if (place.function() == null) {
      return null;
    }
    return new SandwichQuery(
        s.windowNanos(),
        s.states(),
        place.function(),
        place.callers().zoom(),
        place.callers().siblings(),
        place.callees().zoom(),
        place.callees().siblings(),
        place.place().selected(),
        columns,
        Math.max(place.callers().levels(), place.callees().levels()),
        Search.patternOf(s.search()),
        s.colouring() == Colouring.STATE);
  }

  @Override
  public Keys.Step act(Scene scene, ViewState s, Action action) {
    return switch (action) {
      case UP, DOWN, PAGE_UP, PAGE_DOWN -> vertical(scene, s, action);
      case FIRST ->
          scene.plot == null || scene.plot.atBase()
              ? answer(s, "already at the function")
              : Keys.Step.to(atFunction(s));
      case ZOOM -> scene.plot != null && scene.plot.atBase() ? root(s) : GraphKeys.zoomIn(scene, s);
      case ROOT -> root(s);
      case BACK -> back(s);
      case SANDWICH -> choose(scene, s);
      case COPY ->
          s.sandwich().function() != null && scene.plot != null && scene.plot.atBase()
              ? Keys.Step.to(s, new Effect.Copy(s.sandwich().function().name()))
              : graph.act(scene, s, action);
      case FLIP -> answer(s, "callers grow upwards, callees downwards: nothing to flip");
      case LEFT,
          RIGHT,
          LAST,
          SEARCH,
          NEXT_MATCH,
          PREVIOUS_MATCH,
          COMPARE,
          COMPARE_END,
          STATES,
          COLOUR ->
          graph.act(scene, s, action);
      case GROUP, THREADS -> answer(s, "one function is in the middle: a sandwich is not grouped");
      case KEEP, DROP, MERGE, COLLAPSE -> ShapeKeys.act(scene, s, action);
      default -> null;
    };
  }

  @Override
  public Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    Keys.Step crumb = ShapeKeys.mouse(scene, s, mouse);
    SandwichLayout layout = scene.sandwich;
    if (crumb != null || layout == null) {
      return crumb;
    }
    if (mouse.y() == layout.middle() && mouse.wheel() == 0) {
      return !mouse.isPress()
          ? null
          : mouse.kind() == Mouse.Kind.DOUBLE ? root(s) : Keys.Step.to(atFunction(s));
    }
    boolean below = mouse.y() > layout.middle();
    if (below == s.sandwich().below()) {
      return GraphMouse.act(scene, s, mouse);
    }
    ViewState other = s.withSandwich(s.sandwich().at(below));
    Keys.Step step = GraphMouse.act(scene.with(other), other, mouse);
    // The wheel scrolls what it is over; the keys stay where they are, unless something was chosen.
    return step == null || mouse.isPress()
        ? step
        : new Keys.Step(
            step.state().withSandwich(step.state().sandwich().at(!below)), step.effects());
  }

  /** The selected function goes into the middle, from whatever view shows a graph. */
  static Keys.Step choose(Scene scene, ViewState s) {
    Plot plot = scene.plot;
    if (plot == null || plot.selectedBox < 0) {
      return answer(s, "nothing to choose from yet");
    }
    Geometry g = plot.geometry;
    if (g.isRun(plot.selectedBox)) {
      return answer(s, "what is too thin to draw has no name; enter opens it");
    }
    boolean inside = s.view() == View.SANDWICH;
    if (inside && plot.atBase()) {
      return answer(s, "this is its sandwich; choose a caller or a callee");
    }
    NodeKind kind = g.slice().kind()[g.node(plot.selectedBox)];
    if (!isCode(kind)) {
      return answer(s, "a sandwich is of a function: select one, then s");
    }
    Function function = selected(scene, s);
    if (function != null) {
      return Keys.Step.to(s.withSandwich(function));
    }
    // Its module comes with the next picture.
    return Keys.Step.to(s.awaiting(Action.SANDWICH));
  }

  /**
   * A picture has come: where none was chosen the selected function of the graph is, if it is one.
   */
  static ViewState arrived(Scene scene, ViewState s) {
    SandwichPlace place = s.sandwich();
    if (s.view() != View.SANDWICH || place.function() != null || scene.snapshot == null) {
      return s;
    }
    Function function = function(scene.snapshot.selection(), s.inGraph().selected());
    return function == null ? s : s.withView(place.from()).withSandwich(function);
  }

  /** The function that is selected among stacks; null if none is, or it is not known yet. */
  static Function selected(Scene scene, ViewState s) {
    return function(scene.selection(), s.selected());
  }

  /** What a selection is of; null if it is of another node, or of no code. */
  private static Function function(Selection selection, long node) {
    if (selection == null || selection.node() != node || !isCode(selection.kind())) {
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

  private static Keys.Step answer(ViewState s, String text) {
    return Keys.Step.to(s.withMessage(text, false));
  }

  /** Goes up or down, and from the function into the other half. */
  private static Keys.Step vertical(Scene scene, ViewState s, Action action) {
    boolean up = action == Action.UP || action == Action.PAGE_UP;
    if (scene.plot == null || !scene.plot.atBase() || up != s.sandwich().below()) {
      return GraphKeys.vertical(scene, s, action);
    }
    ViewState other = atFunction(s.withSandwich(s.sandwich().at(!up)));
    Keys.Step step = GraphKeys.vertical(scene.with(other), other, action);
    return step.state().message().isEmpty() ? step : answer(s, step.state().message());
  }

  private static Keys.Step root(ViewState s) {
    SandwichPlace place = s.sandwich();
    return place.callers().zooms().isEmpty() && place.callees().zooms().isEmpty()
        ? answer(s, "this is all of it")
        : Keys.Step.to(
            s.withSandwich(place.unzoomed()).withMessage("all callers and callees", false));
  }

  private static Keys.Step back(ViewState s) {
    if (s.search() != null) {
      return Keys.Step.to(s.withSearch(null).withMessage("search closed", false));
    }
    SandwichPlace place = s.sandwich();
    boolean elsewhere = place.place().zooms().isEmpty();
    Place zoomed = elsewhere ? place.at(!place.below()).place() : place.place();
    int zooms = zoomed.zooms().size();
    if (zooms > 0) {
      Place wider = zoomed.withZooms(zoomed.zooms().subList(0, zooms - 1));
      return Keys.Step.to(
          s.withSandwich(
              elsewhere
                  ? place.at(!place.below()).with(wider).at(place.below())
                  : place.with(wider)));
    }
    SandwichPlace before = place.back();
    return Keys.Step.to(before == null ? s.withView(place.from()) : s.withSandwich(before));
  }

  /** Goes on to what matches and is drawn: from the outermost callers to the innermost callees. */
  @Override
  public Keys.Step match(Scene scene, ViewState s, int direction) {
    if (Search.patternOf(s.search()) == null) {
      return answer(s, "no search; / begins one");
    }
    if (!scene.answered()) {
      return Keys.Step.to(
          s.withSearch(s.search().awaiting(direction)).withMessage("searching…", false));
    }
    int[] found = matches(scene.sandwich);
    if (found.length == 0) {
      return answer(s, "no match");
    }
    int at = scene.plot.atBase() ? 0 : order(s.sandwich().below(), scene.selectedBox);
    int index = Arrays.binarySearch(found, at);
    int next = index >= 0 ? index + direction : direction > 0 ? -index - 1 : -index - 2;
    next = Math.floorMod(next, found.length);
    String where = "match " + (next + 1) + " of " + found.length;
    if (found[next] == 0) {
      return Keys.Step.to(atFunction(s).withMessage(where, false));
    }
    ViewState there = s.withSandwich(s.sandwich().at(found[next] > 0));
    return Keys.Step.to(
        GraphKeys.selectBox(scene.with(there), there, Math.abs(found[next]))
            .withMessage(where, false));
  }

  /** How many boxes match what is searched for. */
  static int matchCount(SandwichLayout layout) {
    return matches(layout).length;
  }

  /** Boxes that match by {@link #order}, ascending. */
  private static int[] matches(SandwichLayout layout) {
    int[] found = new int[layout.callers().geometry.size() + layout.callees().geometry.size()];
    int count = 0;
    for (int half = 0; half < 2; half++) {
      Geometry g = layout.at(half == 1).geometry;
      // The function is in both.
      for (int box = half == 0 ? SandwichLayout.BASE : 1; box < g.size(); box++) {
        if (!g.isRun(box) && g.slice().matched()[g.node(box)]) {
          found[count++] = g.level(box) < SandwichLayout.BASE ? 0 : order(half == 1, box);
        }
      }
    }
    int[] sorted = Arrays.copyOf(found, count);
    Arrays.sort(sorted);
    return sorted;
  }

  /** From the outermost callers, below 0, by the function, 0, to the innermost callees. */
  private static int order(boolean below, int box) {
    return below ? box : -box;
  }
}
