package flametop.view;

/** What the mouse does in the graph: a click selects, a second zooms, the wheel scrolls. */
final class GraphMouse {
  /** Levels for a step of the wheel. */
  private static final int STEP = 3;

  private GraphMouse() {}

  static Keys.Step act(Scene scene, ViewState s, Mouse mouse) {
    boolean inside = mouse.y() >= scene.graphTop && mouse.y() < scene.graphTop + scene.graphRows;
    if (scene.geometry == null || !inside) {
      return null;
    }
    if (mouse.wheel() != 0) {
      return scroll(scene, s, mouse.wheel());
    }
    if (!mouse.isPress()) {
      return null;
    }
    int level = scene.levelAt(mouse.y());
    if (level < 0) {
      boolean hint = scene.firstLevel > 0 || scene.levelsBeyond() > 0;
      boolean last = mouse.y() == scene.graphTop + scene.graphRows - 1;
      return hint && (last || mouse.y() == scene.graphTop)
          ? scroll(scene, s, last ? 1 : -1)
          : Keys.Step.to(s.withMessage("nothing here", false));
    }
    Geometry g = scene.geometry;
    int at = mouse.x() * Geometry.CELL + Geometry.CELL / 2;
    for (int box = g.levelStart(level); box < g.levelStart(level + 1); box++) {
      if (g.left(box) <= at && at < g.right(box)) {
        if (mouse.kind() == Mouse.Kind.DOUBLE && box == scene.selectedBox) {
          return GraphKeys.zoomIn(scene, s);
        }
        return Keys.Step.to(GraphKeys.selectBox(scene, s, box));
      }
    }
    return Keys.Step.to(s.withMessage("nothing here", false));
  }

  /** Moves the levels in sight; what is selected stays, or goes to what is nearest in sight. */
  private static Keys.Step scroll(Scene scene, ViewState s, int wheel) {
    Geometry g = scene.geometry;
    if (g.levels() <= scene.graphRows) {
      return Keys.Step.to(s.withMessage("every level is in sight", false));
    }
    int by = s.flame() ? -wheel : wheel;
    int last = g.levels() - scene.graphRows + 1;
    int first = Math.max(0, Math.min(last, scene.firstLevel + by * STEP));
    if (first == scene.firstLevel) {
      String end = by < 0 ? "the root is in sight" : wheel < 0 ? "nothing above" : "nothing below";
      return Keys.Step.to(s.withMessage(end, false));
    }
    int level = scene.selectedBox < 0 ? 0 : g.level(scene.selectedBox);
    int wanted = Math.max(first, Math.min(first + Math.max(0, scene.graphRows - 4), level));
    ViewState moved = s;
    if (wanted != level) {
      moved = GraphKeys.selectBox(scene, s, nearest(g, wanted, scene.selectedBox));
    }
    return Keys.Step.to(moved.withScroll(first));
  }

  /** The box of a level that is nearest to one of another level. */
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
