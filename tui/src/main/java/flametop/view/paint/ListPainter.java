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

  /** Paints the ground and the first row; returns the rest of that row. */
  static Words paint(ListBox box, CellGrid grid, String label, Prompt prompt) {
    Zone<ListBox> zone = box.zone();
    grid.fill(zone.x(), zone.y(), zone.width(), zone.height(), Paint.GROUND);
    grid.fill(box.x, zone.y(), box.width, zone.height(), BACKGROUND);
    Words words = words(box, grid, box.top, BACKGROUND);
    words.write(label, Paint.ACCENT, CellGrid.BOLD).skip(1);
    return words.write(box.x + box.width - 1 - words.x(), prompt);
  }

  /** Paints the ground of an entry; returns its row. */
  static Words entry(ListBox box, CellGrid grid, int entry, boolean marked) {
    int background = marked ? Paint.SELECTED_ROW : BACKGROUND;
    grid.fill(box.x, box.row(entry), box.width, background);
    return words(box, grid, box.row(entry), background);
  }

  static Words words(ListBox box, CellGrid grid, int y, int background) {
    return new Words(grid, box.x + 1, y, box.x + box.width - 1, background);
  }
}
