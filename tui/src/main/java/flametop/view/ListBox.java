package flametop.view;

/** Where a list stands that is open over the view: a row with what is typed, then its own. */
final class ListBox {
  static final int BACKGROUND = Paint.of(Role.CHROME);

  /** A row beside the list. */
  static final int OUTSIDE = -2;

  final int x;
  final int width;

  /** The row with what is typed. */
  final int top;

  private final int columns;
  private final int height;
  private final int heads;
  private final int entries;
  private final int index;

  /**
   * @param heads rows above the first entry
   * @param most rows that it has at most
   * @param index of the marked entry
   */
  ListBox(Scene scene, int heads, int most, int entries, int index) {
    columns = scene.columns;
    x = columns >= 100 ? 4 : columns >= 70 ? 2 : 0;
    width = columns - 2 * x;
    top = scene.graphTop;
    height = Math.min(Math.max(4, scene.graphRows), most);
    this.heads = heads;
    this.entries = entries;
    this.index = index;
  }

  /** Rows for entries. */
  int room() {
    return height - heads;
  }

  /** Row of the screen for one of them. */
  int row(int entry) {
    return top + heads + entry - first();
  }

  /** Index of the first entry in sight. */
  int first() {
    return Rows.first(index, entries, room());
  }

  /** One more than that of the last. */
  int end() {
    return Math.min(entries, first() + room());
  }

  /** Index of the entry in a row; -1 if there is none, {@link #OUTSIDE} beside the list. */
  int entryAt(int y) {
    return y < top || y >= top + height
        ? OUTSIDE
        : Rows.at(y - top - heads, index, entries, room());
  }

  /**
   * Paints it without its entries.
   *
   * @return the column behind what is typed
   */
  int paint(CellGrid grid, String label, Prompt prompt) {
    for (int y = top; y < top + height; y++) {
      grid.fill(0, y, columns, Paint.of(Role.GROUND));
      grid.fill(x, y, width, BACKGROUND);
    }
    int at = x + 1;
    at += grid.text(at, top, width - 2, label, Paint.of(Role.ACCENT), BACKGROUND, CellGrid.BOLD);
    at += 1;
    return at + PromptPainter.paint(grid, at, top, x + width - at - 1, prompt, BACKGROUND);
  }
}
