package flametop.view;

import flametop.profile.answer.Page;
import flametop.profile.answer.Sandwich;

/**
 * Where everything of a sandwich is: the callers grow upwards from the function, the callees
 * downwards.
 *
 * @param page what is shown
 * @param callers above the function
 * @param middle row of the function
 * @param callees below it
 * @param split how the rows are shared
 */
record SandwichLayout(
    Sandwich page, Plot callers, int middle, Plot callees, SandwichPlace.Split split) {
  /** The root of all and the function: these are the row in the middle. */
  static final int BASE = 2;

  /**
   * Lays a sandwich out.
   *
   * @param before the one before; may be null
   * @param live edges stay where they were before as long as they can
   * @return null if the page is not that of the function (yet)
   */
  static SandwichLayout of(
      Page page,
      SandwichPlace place,
      int columns,
      boolean wholeCells,
      int top,
      int rows,
      SandwichLayout before,
      boolean live) {
    if (!(page instanceof Sandwich shown) || !shown.function().equals(place.function())) {
      return null;
    }
    boolean same = before != null && before.page.function().equals(shown.function());
    Geometry above =
        Plot.boxes(
            shown.callers(),
            place.callers(),
            columns,
            wholeCells,
            same ? before.callers.geometry : null,
            live);
    Geometry under =
        Plot.boxes(
            shown.callees(),
            place.callees(),
            columns,
            wholeCells,
            same ? before.callees.geometry : null,
            live);
    SandwichPlace.Split split =
        SandwichPlace.Split.of(place.split(), rows, levels(above), levels(under));
    int middle = top + split.upper();
    return new SandwichLayout(
        shown,
        new Plot(above, place.callers(), BASE, true, top, split.upper()),
        middle,
        new Plot(under, place.callees(), BASE, false, middle + 1, split.lower()),
        split);
  }

  private static int levels(Geometry geometry) {
    return Math.max(0, geometry.levels() - BASE);
  }

  Plot at(boolean below) {
    return below ? callees : callers;
  }

  /** Whether the function has no time in what is shown. */
  boolean empty() {
    return page.total() <= 0 || callees.geometry.levels() < BASE;
  }

  /** The state that goes on from this picture. */
  @SuppressWarnings("ReferenceEquality") // what did not change is the same
  SandwichPlace settled(SandwichPlace place) {
    long selected = page.selection() == null ? -1 : page.selection().node();
    Place above = callers.settled(place.below() ? -1 : selected);
    Place under = callees.settled(place.below() ? selected : -1);
    SandwichPlace next =
        above == place.callers() && under == place.callees() ? place : place.with(above, under);
    return next.withSplit(split);
  }
}
