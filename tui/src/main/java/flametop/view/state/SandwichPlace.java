package flametop.view.state;

import flametop.profile.answer.Function;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the user is in a sandwich: two graphs, both with the function at their root, of which the
 * keys act on one. Immutable.
 *
 * @param function in the middle; null until one is chosen
 * @param before functions that were in the middle before, the latest last
 * @param from the view in which the first function was chosen
 * @param below whether the keys act on callees, not on callers
 * @param callers the place in that half
 * @param callees the place in that half
 * @param split how the halves shared the rows last; null before the first time
 */
public record SandwichPlace(
    @Nullable Function function,
    List<Function> before,
    View from,
    boolean below,
    Place callers,
    Place callees,
    @Nullable Halves split) {
  /** How many functions the way back has. */
  private static final int MOST_BEFORE = 64;

  static final SandwichPlace NONE =
      new SandwichPlace(null, List.of(), View.GRAPH, true, Place.ROOT, Place.ROOT, null);

  /**
   * Rows of both halves.
   *
   * @param room all rows, the row of the function included
   * @param upper rows of the callers
   */
  public record Halves(int room, int upper) {
    /** The least rows of each half, if there is room. */
    static final int LEAST = 3;

    public int lower() {
      return room - 1 - upper;
    }

    /**
     * Shares rows by the need of both halves. The shares from before stay, unless one half hides
     * levels while the other has empty rows: so the function does not move about.
     *
     * @param callers levels that the callers have
     * @param callees levels that the callees have
     */
    public static Halves of(@Nullable Halves before, int room, int callers, int callees) {
      if (before != null && before.room == room) {
        boolean lack = callers > before.upper || callees > before.lower();
        int free =
            Math.max(0, before.upper - Math.max(LEAST, callers))
                + Math.max(0, before.lower() - Math.max(LEAST, callees));
        if (!lack || free == 0) {
          return before;
        }
      }
      int rows = Math.max(0, room - 1);
      int least = Math.min(LEAST, rows / 2);
      int both = Math.max(1, callers + callees);
      int upper =
          callers + callees <= rows
              ? callers + (rows - callers - callees) / 2
              : Math.min(callers, Math.max(rows - callees, rows * callers / both));
      return new Halves(room, Math.max(least, Math.min(rows - least, upper)));
    }
  }

  /** Where the user is in the graph that the keys act on. */
  public Place place() {
    return below ? callees : callers;
  }

  public SandwichPlace with(Place place) {
    return below ? with(callers, place) : with(place, callees);
  }

  public SandwichPlace with(Place above, Place under) {
    return new SandwichPlace(function, before, from, below, above, under, split);
  }

  /** The same with the keys in this half. */
  public SandwichPlace at(boolean callees) {
    return new SandwichPlace(function, before, from, callees, callers, this.callees, split);
  }

  public SandwichPlace unzoomed() {
    return with(callers.withZooms(List.of()), callees.withZooms(List.of()));
  }

  /** The same with both halves unzoomed and the function selected. */
  SandwichPlace atFunction() {
    return with(Place.ROOT, Place.ROOT);
  }

  public SandwichPlace withHalves(Halves value) {
    return value.equals(split)
        ? this
        : new SandwichPlace(function, before, from, below, callers, callees, value);
  }

  /**
   * Another function in the middle.
   *
   * @param view in which the function was chosen
   */
  SandwichPlace of(Function next, View view) {
    if (view != View.SANDWICH) {
      return middle(next, List.of(), view);
    }
    List<Function> past = new ArrayList<>(before);
    if (function != null && !function.equals(next)) {
      past.add(function);
    }
    int over = Math.max(0, past.size() - MOST_BEFORE);
    return middle(next, List.copyOf(past.subList(over, past.size())), from);
  }

  /** The place with the function that was in the middle before; null if there is none. */
  public @Nullable SandwichPlace back() {
    int last = before.size() - 1;
    return last < 0 ? null : middle(before.get(last), before.subList(0, last), from);
  }

  private static SandwichPlace middle(Function of, List<Function> past, View from) {
    return new SandwichPlace(of, past, from, true, Place.ROOT, Place.ROOT, null);
  }
}
