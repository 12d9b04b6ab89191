package flametop.view.state;

import flametop.profile.answer.Function;
import flametop.view.base.View;
import java.util.ArrayList;
import java.util.List;

/**
 * Where the user is in a sandwich: two graphs, both with the function at their root, of which the
 * keys act on one. Immutable.
 *
 * @param function in the middle; null: none was chosen yet
 * @param before functions that were in the middle before, the latest last
 * @param from the view that it was chosen in first
 * @param below the keys act on the callees, not on the callers
 * @param callers where the user is in those
 * @param callees where the user is in those
 * @param split how the rows were shared when they were last; null if they were not yet
 */
public record SandwichPlace(
    Function function,
    List<Function> before,
    View from,
    boolean below,
    Place callers,
    Place callees,
    Halves split) {
  /** Functions that one can go back to. */
  private static final int MOST_BEFORE = 64;

  static final SandwichPlace NONE =
      new SandwichPlace(null, List.of(), View.GRAPH, true, Place.ROOT, Place.ROOT, null);

  /**
   * Rows of both halves.
   *
   * @param room rows that there are, that of the function among them
   * @param upper rows of the callers
   */
  public record Halves(int room, int upper) {
    /** Rows that each half has at least, where there is room for that. */
    static final int LEAST = 3;

    public int lower() {
      return room - 1 - upper;
    }

    /**
     * Shares rows by what both halves need. What was shared before stays as long as nothing is
     * hidden in one half while rows of the other are empty: the function does not move about.
     *
     * @param callers levels that the callers have
     * @param callees levels that the callees have
     */
    public static Halves of(Halves before, int room, int callers, int callees) {
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

  /** The keys act on this half. */
  public SandwichPlace at(boolean callees) {
    return new SandwichPlace(function, before, from, callees, callers, this.callees, split);
  }

  public SandwichPlace unzoomed() {
    return with(callers.withZooms(List.of()), callees.withZooms(List.of()));
  }

  /** All of both halves is shown, and the function is selected. */
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
   * @param view that it was chosen in
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

  /** The function before in the middle; null if there is none. */
  public SandwichPlace back() {
    int last = before.size() - 1;
    return last < 0 ? null : middle(before.get(last), before.subList(0, last), from);
  }

  private static SandwichPlace middle(Function of, List<Function> past, View from) {
    return new SandwichPlace(of, past, from, true, Place.ROOT, Place.ROOT, null);
  }
}
