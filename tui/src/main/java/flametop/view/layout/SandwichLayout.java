package flametop.view.layout;

import flametop.profile.answer.Page;
import flametop.profile.answer.Sandwich;
import flametop.view.state.Place;
import flametop.view.state.SandwichPlace;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The layout of a sandwich: callers grow upwards from the function, callees downwards.
 *
 * @param page the shown page
 * @param callers above the function
 * @param middle row of the function
 * @param callees below it
 * @param split how the rows are shared
 */
public record SandwichLayout(
    Sandwich page, Plot callers, int middle, Plot callees, SandwichPlace.Halves split) {
  /** How many levels the row in the middle stands for: the root of all, and the function. */
  public static final int BASE = 2;

  /**
   * Lays a sandwich out.
   *
   * @param before the layout before; may be null
   * @param live whether edges stay in their places as long as they can
   * @return null until the page of the function has come
   */
  static @Nullable SandwichLayout of(
      @Nullable Page page,
      SandwichPlace place,
      int columns,
      boolean wholeCells,
      int top,
      int rows,
      @Nullable SandwichLayout before,
      boolean live) {
    if (!(page instanceof Sandwich shown) || !shown.function().equals(place.function())) {
      return null;
    }
    SandwichLayout same =
        before != null && before.page.function().equals(shown.function()) ? before : null;
    Geometry above =
        Plot.boxes(
            shown.callers(),
            place.callers(),
            columns,
            wholeCells,
            same == null ? null : same.callers.geometry,
            live);
    Geometry under =
        Plot.boxes(
            shown.callees(),
            place.callees(),
            columns,
            wholeCells,
            same == null ? null : same.callees.geometry,
            live);
    SandwichPlace.Halves split =
        SandwichPlace.Halves.of(place.split(), rows, levels(above), levels(under));
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

  public Plot at(boolean below) {
    return below ? callees : callers;
  }

  /** Whether the function has no time in the shown stacks. */
  public boolean empty() {
    return page.total() <= 0 || callees.geometry.levels() < BASE;
  }

  /** The place after this picture. */
  @SuppressWarnings("ReferenceEquality") // an unchanged value is the same object
  SandwichPlace settled(SandwichPlace place) {
    long selected = page.selection().node();
    Place above = callers.settled(place.below() ? -1 : selected);
    Place under = callees.settled(place.below() ? selected : -1);
    SandwichPlace next =
        above == place.callers() && under == place.callees() ? place : place.with(above, under);
    return next.withHalves(split);
  }

  /** The matching boxes by {@link #order}, ascending. */
  public int[] matches() {
    int[] found = new int[callers.geometry.size() + callees.geometry.size()];
    int count = 0;
    for (int half = 0; half < 2; half++) {
      Geometry g = at(half == 1).geometry;
      // The function is in both halves.
      for (int box = half == 0 ? BASE : 1; box < g.size(); box++) {
        if (!g.isRun(box) && g.slice().matched()[g.node(box)]) {
          found[count++] = g.level(box) < BASE ? 0 : order(half == 1, box);
        }
      }
    }
    int[] sorted = Arrays.copyOf(found, count);
    Arrays.sort(sorted);
    return sorted;
  }

  /**
   * The rank of a box: callers are negative, the outermost first; the function is 0; callees are
   * positive.
   */
  public static int order(boolean below, int box) {
    return below ? box : -box;
  }
}
