package flametop.view;

/** How keys move through the rows of a table. */
final class Rows {
  private Rows() {}

  /**
   * Rows that an action goes down, below 0 up; 0 if it does not move.
   *
   * @param room rows in sight, 1 or more
   */
  static int by(Action action, int room) {
    return switch (action) {
      case UP -> -1;
      case DOWN -> 1;
      case PAGE_UP -> -room;
      case PAGE_DOWN -> room;
      case FIRST -> -Short.MAX_VALUE;
      case LAST -> Short.MAX_VALUE;
      default -> 0;
    };
  }

  /** Where that ends, of rows from 0 to {@code last}. */
  static int moved(int at, int by, int last) {
    return Math.max(0, Math.min(last, at + by));
  }

  /** The answer if it went nowhere. */
  static Keys.Step end(ViewState s, int by) {
    return Keys.Step.to(s.withMessage(by < 0 ? "already at the top" : "nothing below", false));
  }
}
