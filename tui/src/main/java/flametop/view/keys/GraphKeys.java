package flametop.view.keys;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Siblings;
import flametop.profile.answer.Snapshot;
import flametop.view.base.Action;
import flametop.view.base.Colouring;
import flametop.view.base.Mouse;
import flametop.view.base.View;
import flametop.view.layout.Geometry;
import flametop.view.layout.Plot;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Place;
import flametop.view.state.Search;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import flametop.view.state.Zoom;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The keys of the graph. */
public final class GraphKeys implements ViewKeys {
  @Override
  public @Nullable Step act(Scene scene, ViewState s, Action action) {
    Step time = TimeKeys.act(scene, s, action);
    if (time != null) {
      return time;
    }
    Step shaped = ShapeKeys.act(scene, s, action);
    if (shaped != null) {
      return shaped;
    }
    return switch (action) {
      case LEFT -> sideways(scene, s, -1);
      case RIGHT -> sideways(scene, s, 1);
      case UP, DOWN, PAGE_UP, PAGE_DOWN, LAST -> vertical(scene, s, action);
      case FIRST ->
          select(
              scene, s, scene.selectedBox < 0 ? -1 : scene.geometry.zoomLevel(), "already there");
      case ZOOM -> zoomIn(scene, s);
      case BACK -> back(scene, s);
      case ROOT ->
          s.zooms().isEmpty()
              ? Step.answer(s, "already at the root")
              : Step.answer(s.withZooms(List.of()), "the whole graph");
      case SEARCH -> SearchKeys.begun(s);
      case NEXT_MATCH -> match(scene, s, 1);
      case PREVIOUS_MATCH -> match(scene, s, -1);
      case SANDWICH -> SandwichKeys.choose(scene, s);
      case SOURCE ->
          s.source() != null
              ? Step.to(s.withSource(null))
              : Step.to(s.withSource(ViewState.NO_SOURCE), new Effect.Source());
      case STATES -> CommonKeys.states(s);
      case SHOW_CALLERS ->
          s.view() == View.CALLERS
              ? Step.answer(s.withView(View.GRAPH), "the graph: outermost frame first")
              : null;
      case FLIP ->
          Step.answer(
              s.flipped(), s.flame() ? "icicle: root at the top" : "flame: root at the bottom");
      case SIBLINGS ->
          Step.answer(
              s.withBySize(!s.bySize()),
              s.bySize() ? "boxes stand by name" : "boxes stand by size, the largest first");
      case COPY -> copy(scene, s);
      case COMPARE, COMPARE_END -> CommonKeys.compare(scene, s, action);
      case COLOUR -> {
        if (scene.baseline().isPresent()) {
          yield Step.answer(s, "colours tell changes; B ends the comparison");
        }
        Colouring next = s.colouring().next();
        yield Step.answer(s.withColouring(next), "colours tell the " + next.label());
      }
      default -> null;
    };
  }

  private static Step copy(Scene scene, ViewState s) {
    if (scene.selectedBox < 0) {
      return Step.answer(s, "nothing to copy yet");
    }
    if (scene.geometry.isRun(scene.selectedBox)) {
      return Step.answer(s, "frames too thin to draw have no name; enter opens them");
    }
    String name = scene.geometry.slice().name()[scene.geometry.node(scene.selectedBox)];
    return Step.to(s, new Effect.Copy(name));
  }

  @Override
  public @Nullable Step mouse(Scene scene, ViewState s, Mouse mouse) {
    Step time = TimeKeys.mouse(scene, s, mouse);
    if (time != null) {
      return time;
    }
    Step shaped = ShapeKeys.mouse(scene, s, mouse);
    return shaped != null ? shaped : GraphMouse.act(scene, s, mouse);
  }

  private static Step select(Scene scene, ViewState s, int box, String already) {
    if (box < 0 || box == scene.selectedBox) {
      return Step.answer(s, already);
    }
    return Step.to(selectBox(scene, s, box));
  }

  public static ViewState selectBox(Scene scene, ViewState s, int box) {
    Geometry g = scene.geometry;
    Plot plot = scene.plot;
    Place place = s.place();
    Place scrolled = place.scroll() < 0 ? place.withScroll(plot.levelsBefore()) : place;
    return s.withPlace(
        g.isRun(box)
            ? scrolled.withRun(plot.nodeOf(box), plot.memberOf(box), plot.trail(box))
            : scrolled.withSelected(plot.nodeOf(box), plot.trail(box)));
  }

  /** Moves up or down: by a level, a page of levels, or to the deepest level. */
  static Step vertical(Scene scene, ViewState s, Action action) {
    int box = scene.selectedBox;
    if (box < 0) {
      return Step.answer(s, "nothing to move in yet");
    }
    boolean up = action == Action.UP || action == Action.PAGE_UP;
    boolean towardsRoot = action != Action.LAST && up != s.flame();
    int levels =
        switch (action) {
          case UP, DOWN -> 1;
          case LAST -> Integer.MAX_VALUE;
          default -> Math.max(1, scene.plot.rows - 2);
        };
    for (int level = 0; level < levels; level++) {
      int next = towardsRoot ? scene.geometry.parent(box) : scene.geometry.child(box);
      if (next < 0) {
        break;
      }
      box = next;
    }
    return select(
        scene,
        s,
        box,
        towardsRoot ? "already at the root" : s.flame() ? "nothing above" : "nothing below");
  }

  private static Step sideways(Scene scene, ViewState s, int direction) {
    if (scene.selectedBox < 0) {
      return Step.answer(s, "nothing to move in yet");
    }
    int next = scene.geometry.neighbour(scene.selectedBox, direction);
    return select(scene, s, next, direction < 0 ? "nothing to the left" : "nothing to the right");
  }

  static Step zoomIn(Scene scene, ViewState s) {
    int box = scene.selectedBox;
    if (box < 0) {
      return Step.answer(s, "nothing to zoom into yet");
    }
    Geometry g = scene.geometry;
    if (g.isRun(box) && s.place().run()) {
      return openRun(scene, s, box);
    }
    if (s.selected() == s.zoom() && s.place().siblings() == null) {
      return Step.answer(
          s, s.zooms().isEmpty() ? "already at the root" : "already zoomed to it; esc goes back");
    }
    if (s.selected() == GraphQuery.ROOT) {
      return Step.answer(s.withZooms(List.of()), "the whole graph");
    }
    ViewState next = s.zoomedTo(new Zoom(s.selected(), null));
    boolean leaf = !g.isRun(box) && g.child(box) < 0;
    return Step.to(leaf ? next.withMessage(s.flame() ? "nothing above" : "nothing below") : next);
  }

  private static Step openRun(Scene scene, ViewState s, int run) {
    Geometry g = scene.geometry;
    int parent = g.parent(run);
    if (g.level(parent) != g.zoomLevel()) {
      return Step.to(s.zoomedTo(new Zoom(scene.plot.nodeOf(parent), null)));
    }
    // The parent fills the width already: now the frames of the run get the whole width.
    Siblings siblings = g.siblings(run);
    if (siblings == null) {
      return Step.answer(s, "still being listed; enter opens it then");
    }
    return Step.answer(
        s.zoomedTo(new Zoom(scene.plot.nodeOf(parent), siblings)),
        "only frames that were too thin to draw; esc goes back");
  }

  private static Step back(Scene scene, ViewState s) {
    if (s.source() != null) {
      return Step.to(s.withSource(null));
    }
    if (s.search() != null) {
      return Step.answer(s.withSearch(null), "search closed");
    }
    if (!s.zooms().isEmpty()) {
      return Step.to(s.withZooms(s.zooms().subList(0, s.zooms().size() - 1)));
    }
    if (s.moment().range().isPresent()) {
      return TimeKeys.drop(scene, s);
    }
    if (scene.baseline().isPresent()) {
      return CommonKeys.compare(scene, s, Action.COMPARE_END);
    }
    if (s.view() == View.CALLERS) {
      return Step.to(s.withView(View.GRAPH));
    }
    return Step.answer(s, "already at the root; q quits");
  }

  /** Whether the selected box matches the search. */
  static boolean isAtMatch(Scene scene) {
    int box = scene.selectedBox;
    return scene.answered()
        && box >= 0
        && !scene.geometry.isRun(box)
        && scene.geometry.slice().matched()[scene.geometry.node(box)];
  }

  /** Says that nothing matches. Where samples still come, the selection goes to the first match. */
  static Step noMatch(Scene scene, ViewState s, Search search, int direction) {
    return scene.isLive() && !scene.snapshot.live().ended()
        ? Step.answer(s.withSearch(search.awaiting(direction)), "no match yet")
        : Step.answer(s, "no match");
  }

  static Step toMatch(Scene scene, ViewState s, int direction) {
    Search search = s.search();
    if (search == null || search.pattern() == null) {
      return Step.answer(s, "no search; / begins one");
    }
    Snapshot.Search answer = scene.found();
    if (answer == null || scene.geometry.size() == 0) {
      return Step.answer(s.withSearch(search.awaiting(direction)), "searching…");
    }
    long[] found = answer.nodes();
    if (found.length == 0) {
      return noMatch(scene, s, search, direction);
    }
    int at = direction > 0 ? -1 : found.length;
    for (int i = 0; i < found.length; i++) {
      if (found[i] == s.selected()) {
        at = i;
      }
    }
    // Drawn matches come first: most matches of a long search are too thin to see.
    int next = Math.floorMod(at + direction, found.length);
    for (int i = 1; i <= found.length; i++) {
      int candidate = Math.floorMod(at + i * direction, found.length);
      int drawn = scene.geometry.boxOfNode(found[candidate]);
      if (drawn >= 0 && !scene.geometry.isRun(drawn) && found[candidate] != s.selected()) {
        next = candidate;
        break;
      }
    }
    String all = (answer.more() ? "at least " : "") + answer.count();
    String where = "match " + (next + 1) + " of " + all;
    int box = scene.geometry.boxOfNode(found[next]);
    if (box >= 0 && !scene.geometry.isRun(box)) {
      return Step.answer(selectBox(scene, s, box), where);
    }
    List<Long> trail = box >= 0 ? scene.plot.trail(box) : List.of(GraphQuery.ROOT);
    return Step.answer(
        s.withSelected(found[next], trail), where + ", too thin to draw here; enter zooms to it");
  }
}
