package flametop.view.state;

/**
 * Two files side by side. Immutable.
 *
 * @param left number of the file in the left pane, from 1
 * @param right like {@code left}
 * @param onRight the keys act on the right one
 * @param behind where the user was in the other pane when the keys left it; null if they did not
 * @param arrived where that led to in this one
 */
public record Split(int left, int right, boolean onRight, Place behind, Place arrived) {
  /** Columns from which on there is room for two panes. */
  public static final int MIN_COLUMNS = 80;

  /** A file and the next one of so many, in their order; the keys stay in the first. */
  public static Split of(int file, int files) {
    int next = file % files + 1;
    return new Split(Math.min(file, next), Math.max(file, next), next < file, null, null);
  }

  /** Columns of a pane. */
  public static int pane(int columns) {
    return (columns - 1) / 2;
  }

  /** Number of the file that the keys act on. */
  public int active() {
    return onRight ? right : left;
  }

  /** Number of the file beside it. */
  public int other() {
    return onRight ? left : right;
  }

  /** Another file in the pane that the keys act on. */
  public Split withActive(int file) {
    return new Split(onRight ? left : file, onRight ? file : right, onRight, null, null);
  }

  /**
   * The keys act on the other one.
   *
   * @param from where the user is
   * @param to where that is in the other one
   */
  public Split passed(Place from, Place to) {
    return new Split(left, right, !onRight, from, to);
  }

  /** Where the keys lead that go to the other pane: back, if nothing was done since they came. */
  public Place back(Place from, Place to) {
    boolean same =
        behind != null
            && from.selected() == arrived.selected()
            && from.zoom() == arrived.zoom()
            && !from.run();
    return same ? behind : to;
  }
}
