package flametop.view.keys;

import flametop.view.base.Mouse;
import flametop.view.layout.Geometry;
import flametop.view.layout.Plot;
import flametop.view.layout.Scene;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import org.jspecify.annotations.Nullable;

/** The mouse in the graph: a click selects, a second click zooms, the wheel scrolls. */
final class GraphMouse {
  /** How many levels a step of the wheel scrolls. */
  private static final int STEP = 3;

  private GraphMouse() {}

  static @Nullable Step act(Scene scene, ViewState s, Mouse mouse) {
    Plot plot = scene.plot;
    if (mouse.y() < plot.top || mouse.y() >= plot.top + plot.rows) {
      return null;
    }
    if (mouse.wheel() != 0) {
      return scroll(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    int level = plot.levelAt(mouse.y());
    if (level < 0) {
      boolean hint = plot.levelsBefore() > 0 || plot.levelsBeyond() > 0;
      boolean last = mouse.y() == plot.top + plot.rows - 1;
      return hint && (last || mouse.y() == plot.top)
          ? scroll(scene, s, last ? 1 : -1)
          : Step.answer(s, "nothing here");
    }
    Geometry g = scene.geometry;
    int at = mouse.x() * Geometry.CELL + Geometry.CELL / 2;
    for (int box = g.levelStart(level); box < g.levelStart(level + 1); box++) {
      if (g.left(box) <= at && at < g.right(box)) {
        if (mouse.kind() == Mouse.Kind.DOUBLE && box == scene.selectedBox) {
          return GraphKeys.zoomIn(scene, s);
        }
        return Step.to(GraphKeys.selectBox(scene, s, box));
      }
    }
    return Step.answer(s, "nothing here");
  }

  /** Scrolls the levels in sight. The selection stays, or moves to the nearest box in sight. */
  private static Step scroll(Scene scene, ViewState s, int wheel) {
    Plot plot = scene.plot;
    Geometry g = plot.geometry;
    if (plot.levels() <= plot.rows) {
      return Step.answer(s, "every level is in sight");
    }
    int by = s.flame() ? -wheel : wheel;
    int last = plot.levels() - plot.rows + 1;
    int first = Math.max(0, Math.min(last, plot.levelsBefore() + by * STEP));
    if (first == plot.levelsBefore()) {
      String end = by < 0 ? "the root is in sight" : wheel < 0 ? "nothing above" : "nothing below";
      return Step.answer(s, end);
    }
    if (plot.atBase()) {
      return Step.to(s.withPlace(s.place().withScroll(first)));
    }
    int base = g.levels() - plot.levels();
    int level = g.level(scene.selectedBox) - base;
    int wanted = Math.max(first, Math.min(first + Math.max(0, plot.rows - 4), level));
    ViewState moved = s;
    if (wanted != level) {
      moved = GraphKeys.selectBox(scene, s, nearest(g, wanted + base, scene.selectedBox));
    }
    return Step.to(moved.withPlace(moved.place().withScroll(first)));
  }

  /** The box of a level that is nearest to a box of another level. */
  private static int nearest(Geometry g, int level, int box) {
    int best = g.levelStart(level);
    int middle = g.left(box) + g.right(box);
    for (int i = best; i < g.levelStart(level + 1); i++) {
      if (Math.abs(g.left(i) + g.right(i) - middle)
          < Math.abs(g.left(best) + g.right(best) - middle)) {
        best = i;
      }
    }
    return best;
  }
}
