package flametop.view.state;

import flametop.view.base.Action;
import flametop.view.base.Key;

/** How keys move through the rows of a table, and which of them are in sight. */
public final class Rows {
  /** The least number of rows that a query asks for. */
  private static final int FEWEST = 256;

  /** More rows than any table has. */
  private static final int ALL = Integer.MAX_VALUE / 4;

  private Rows() {}

  /**
   * How many rows an action moves down, up if negative; 0 if the action does not move.
   *
   * @param room rows in sight, 1 or more
   */
  public static int by(Action action, int room) {
    return switch (action) {
      case UP -> -1;
      case DOWN -> 1;
      case PAGE_UP -> -room;
      case PAGE_DOWN -> room;
      case FIRST -> -ALL;
      case LAST -> ALL;
      default -> 0;
    };
  }

  /**
   * How many rows a key moves down, up if negative, in a list that takes letters as text; 0 if the
   * key does not move.
   */
  public static int by(Key key, int page) {
    return switch (key.kind()) {
      case UP -> -1;
      case DOWN -> 1;
      case PAGE_UP -> -page;
      case PAGE_DOWN -> page;
      default -> 0;
    };
  }

  /** The row after a move, among rows from 0 to {@code last}. */
  public static int moved(int at, int by, int last) {
    return Math.max(0, Math.min(last, at + by));
  }

  /** The answer to a move at the end of the rows. */
  public static Step end(ViewState s, int by) {
    return Step.answer(s, by < 0 ? "already at the top" : "nothing below");
  }

  /** Index of the first row in sight. The marked row is in the middle, except at both ends. */
  public static int first(int marked, int count, int room) {
    return Math.max(0, Math.min(marked - room / 2, count - room));
  }

  /** How many rows to ask for, so that there are more than enough around a row. */
  static int asked(int place) {
    return Math.max(FEWEST, Integer.highestOneBit(Math.min(place, ALL)) * 4);
  }
}
