package flametop.array;

/** How long the arrays of full columns become. */
final class Growth {
  private static final int LARGE = 1 << 14;

  private Growth() {}

  /**
   * Room for a row. Small arrays double; large ones become a quarter longer, since on average half
   * of a doubled array would be empty.
   */
  static int toHold(int row, int length) {
    int longer = length < LARGE ? 2 * length : length + (length >> 2);
    return Math.max(row + 1, longer);
  }
}
