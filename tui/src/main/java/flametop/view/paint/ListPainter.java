package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Prompt;
import flametop.view.base.Zone;
import flametop.view.layout.ListBox;

/** Paints the frame of a list over the view: the ground, and the row with the typed text. */
final class ListPainter {
  static final int BACKGROUND = Paint.CHROME;

  private ListPainter() {}

  /**
   * Paints the ground and the first row.
   *
   * @return the column behind the typed text
   */
  static int paint(ListBox box, CellGrid grid, String label, Prompt prompt) {
    Zone<ListBox> zone = box.zone();
    for (int y = zone.y(); y < zone.y() + zone.height(); y++) {
      grid.fill(zone.x(), y, zone.width(), Paint.GROUND);
      grid.fill(box.x, y, box.width, BACKGROUND);
    }
    int y = box.top;
    int at = box.x + 1;
    at += grid.text(at, y, box.width - 2, label, Paint.ACCENT, BACKGROUND, CellGrid.BOLD);
    at += 1;
    int room = box.x + box.width - at - 1;
    return at + PromptPainter.paint(grid, at, y, room, prompt, BACKGROUND);
  }
}
