package flametop.view.state;

import org.jspecify.annotations.Nullable;

/**
 * Two files side by side. Immutable.
 *
 * @param left number of the file in the left pane, from 1
 * @param right like {@code left}
 * @param onRight whether the keys act on the right pane
 * @param behind the place in the other pane when the keys left that pane; null if they never did
 * @param arrived the place in this pane that the keys came to; null if they never did
 */
public record Split(
    int left, int right, boolean onRight, @Nullable Place behind, @Nullable Place arrived) {
  /** The least columns for two panes. */
  public static final int MIN_COLUMNS = 80;

  /** Two panes for a file and the next file, in their order; the keys stay in the first file. */
  public static Split of(int file, int files) {
    int next = file % files + 1;
    return new Split(Math.min(file, next), Math.max(file, next), next < file, null, null);
  }

  /** How many columns a pane has. */
  public static int pane(int columns) {
    return (columns - 1) / 2;
  }

  /** Number of the file that the keys act on. */
  public int active() {
    return onRight ? right : left;
  }

  /** Number of the file in the other pane. */
  public int other() {
    return onRight ? left : right;
  }

  /** The same with another file in the pane that the keys act on. */
  public Split withActive(int file) {
    return new Split(onRight ? left : file, onRight ? file : right, onRight, null, null);
  }

  /**
   * The same with the keys in the other pane.
   *
   * @param from where the user is
   * @param to the same place in the other pane
   */
  public Split passed(@Nullable Place from, @Nullable Place to) {
    return new Split(left, right, !onRight, from, to);
  }

  /**
   * The place that the keys come to in the other pane: the place that they left, if the user did
   * nothing since.
   */
  public Place back(Place from, Place to) {
    return behind != null
            && arrived != null
            && from.selected() == arrived.selected()
            && from.zoom() == arrived.zoom()
            && !from.run()
        ? behind
        : to;
  }
}
