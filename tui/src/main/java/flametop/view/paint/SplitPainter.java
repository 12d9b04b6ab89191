package flametop.view.paint;

import flametop.profile.answer.Snapshot;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.FileHeader;
import flametop.view.layout.Piece;
import flametop.view.layout.Scene;
import java.util.ArrayList;
import java.util.List;

/** Paints the names of the files of two panes, and the line between the panes. */
final class SplitPainter {
  /** The least columns of a file's name, if the name needs them. */
  private static final int NAME = 16;

  private static final int FORMS = 4;

  private SplitPainter() {}

  static void paint(Scene scene, Scene other, CellGrid grid) {
    head(scene, scene.window(grid), true);
    head(other, other.window(grid), false);
    int ground = Paint.GROUND;
    int end = scene.graphTop + scene.graphRows;
    for (int y = scene.headRow; y < end; y++) {
      grid.put(scene.graphColumns, y, '│', Paint.DIM, ground, 0);
    }
  }

  private static void head(Scene pane, CellGrid grid, boolean hasKeys) {
    int y = pane.headRow;
    int background = Paint.of(hasKeys ? Role.CHROME : Role.GROUND);
    grid.fill(0, y, grid.columns(), background);
    String name = pane.snapshot.reading().name();
    List<Piece> pieces = List.of();
    int room = 0;
    for (int form = 0; form < FORMS; form++) {
      pieces = pieces(pane, form);
      room = grid.columns() - 4 - Piece.width(pieces);
      if (room >= NAME || !TextWidth.exceeds(name, room)) {
        break;
      }
    }
    String shown = FileHeader.fromTheRight(name, Math.max(1, room));
    int style = hasKeys ? CellGrid.BOLD : 0;
    int colour = Paint.of(hasKeys ? Role.ACCENT : Role.TEXT);
    grid.text(0, y, 1, hasKeys ? "›" : " ", colour, background, style);
    grid.text(1, y, Math.max(1, room), shown, colour, background, style);
    int x = grid.columns() - 1 - Piece.width(pieces);
    new Words(grid, x, y, grid.columns(), background).write(pieces);
  }

  /** The words about a pane, from all words to none. */
  private static List<Piece> pieces(Scene pane, int form) {
    Snapshot snapshot = pane.snapshot;
    List<Piece> pieces = new ArrayList<>();
    if (form < 3 && !snapshot.reading().done()) {
      pieces.add(Piece.of("  reading " + FileHeader.progress(snapshot.reading()), Role.ACCENT));
    }
    if (form < 1 && snapshot.refolding()) {
      pieces.add(Piece.of("  folding anew…", Role.ACCENT));
    }
    Snapshot.Search found = pane.sandwich != null ? null : pane.found();
    if (form < 2 && found != null) {
      String share = Units.share(found.weight(), snapshot.total());
      pieces.add(Piece.of(found.count() == 0 ? "  no match" : "  matched " + share, Role.ACCENT));
    }
    if (form < 1) {
      String amount = snapshot.measure().text(snapshot.total());
      pieces.add(Piece.of("  " + amount, Role.DIM));
    }
    return pieces;
  }
}
