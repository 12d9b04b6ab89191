package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.TextWidth;
import flametop.view.base.Zone;
import flametop.view.layout.Breadcrumb;
import flametop.view.layout.Header;
import flametop.view.layout.Heading;
import flametop.view.layout.Piece;
import flametop.view.layout.Scene;
import java.util.List;

/** Paints lines of words: the first line, those between panels, and those above tables. */
public final class LinePainter {
  private LinePainter() {}

  /** Paints the first line. */
  public static void header(Scene scene, CellGrid grid) {
    grid.fill(0, 0, scene.columns, Paint.CHROME);
    words(grid, Header.zones(scene), Paint.CHROME);
  }

  private static void words(CellGrid grid, List<Zone<Piece>> zones, int ground) {
    for (Zone<Piece> zone : zones) {
      new Words(grid, zone.x(), zone.y(), zone.x() + zone.width(), ground).write(zone.what());
    }
  }

  /**
   * Paints the lines above a table.
   *
   * @param what the kind of the rows
   * @param how their order, or more words about them
   * @return the column behind the title; 0 without a title
   */
  public static int heading(Heading heading, Scene scene, CellGrid grid, String what, String how) {
    for (int i = 0; i < heading.missing.size(); i++) {
      grid.text(1, 1 + i, scene.columns - 2, heading.missing.get(i), Paint.DIM, Paint.GROUND, 0);
    }
    if (heading.notice >= 0) {
      paint(scene, grid, heading.notice);
    }
    if (heading.crumb >= 0) {
      crumbs(scene, grid, heading.crumb);
    }
    if (heading.title < 0) {
      return 0;
    }
    paint(grid, heading.title);
    grid.put(1, heading.title, ' ', Paint.GROUND, Paint.GROUND, 0);
    Words words = new Words(grid, 2, heading.title, grid.columns() - 2, Paint.GROUND);
    words.write(what, Paint.ACCENT, CellGrid.BOLD);
    grid.fill(words.x(), heading.title, 2, Paint.GROUND);
    words.skip(2).write(how, Paint.DIM);
    grid.put(words.x(), heading.title, ' ', Paint.GROUND, Paint.GROUND, 0);
    return words.x() + 1;
  }

  /** Paints a line between panels with the notices, else with the breadcrumb. */
  static void paint(Scene scene, CellGrid grid, int row) {
    paint(grid, row);
    List<String> notices = scene.notices();
    if (notices.isEmpty() && scene.state.hasCrumbs()) {
      crumbs(scene, grid, row);
    }
    if (!notices.isEmpty()) {
      int n = notices.size();
      String others = n > 1 ? " (" + n + " notices; ? shows them)" : "";
      grid.fill(0, row, scene.columns, Paint.GROUND);
      int room = scene.columns - 2 - TextWidth.of(others);
      new Words(grid, 1, row, scene.columns, Paint.GROUND)
          .write(room, notices.get(n - 1), Paint.WORSE, CellGrid.BOLD)
          .write(others, Paint.DIM);
    }
  }

  static void paint(CellGrid grid, int row) {
    for (int x = 0; x < grid.columns(); x++) {
      grid.put(x, row, '─', Paint.faded(Paint.DIM), Paint.GROUND, 0);
    }
  }

  /** Paints the breadcrumb. */
  static void crumbs(Scene scene, CellGrid grid, int row) {
    paint(grid, row);
    Breadcrumb crumbs = Breadcrumb.of(scene, row);
    words(grid, crumbs.pieces(), Paint.GROUND);
    grid.put(1, row, ' ', Paint.GROUND, Paint.GROUND, 0);
    if (crumbs.end() < scene.columns) {
      grid.put(crumbs.end(), row, ' ', Paint.GROUND, Paint.GROUND, 0);
    }
  }
}
