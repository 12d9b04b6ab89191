package flametop.view;

import java.util.List;

/** Paints a picture: a pure function from snapshot, state, size and options to cells. */
public final class Painter {
  private Painter() {}

  /** Paints what {@code scene} laid out. */
  public static CellGrid paint(Scene scene) {
    return paint(scene, null);
  }

  /**
   * The same over an older picture that is needed no more, if it has the size.
   *
   * @param over may be null
   */
  public static CellGrid paint(Scene scene, CellGrid over) {
    boolean fits = over != null && over.columns() == scene.columns && over.rows() == scene.rows;
    CellGrid grid = fits ? over : new CellGrid(scene.columns, scene.rows);
    if (fits) {
      grid.clear();
    }
    if (scene.tooSmall()) {
      tooSmall(scene, grid);
    } else {
      HeaderPainter.paint(scene, grid);
      scene.state.view().painter().paint(scene, grid);
      if (scene.state.pick() != null) {
        PickPainter.paint(scene, grid);
      }
      if (scene.state.formats().open()) {
        FormatPainter.paint(scene, grid);
      }
      if (scene.state.help()) {
        HelpPainter.paint(scene, grid);
      }
    }
    if (scene.options.ascii()) {
      grid.toAscii();
    }
    return grid;
  }

  private static void tooSmall(Scene scene, CellGrid grid) {
    String[] lines = {
      "flametop",
      scene.columns + "×" + scene.rows + " is too small",
      "it needs " + Scene.MIN_COLUMNS + "×" + Scene.MIN_ROWS + "; q quits"
    };
    int top = Math.max(0, (scene.rows - lines.length) / 2);
    for (int i = 0; i < lines.length; i++) {
      int x = Math.max(0, (scene.columns - TextWidth.of(lines[i])) / 2);
      int fg = Paint.of(i == 0 ? Role.ACCENT : Role.TEXT);
      grid.text(x, top + i, scene.columns, lines[i], fg, Paint.of(Role.GROUND), 0);
    }
  }

  /** A line between panels, which makes room for what does not work, else for the breadcrumb. */
  static void rule(Scene scene, CellGrid grid, int row) {
    rule(grid, row);
    List<String> notices = scene.notices();
    if (notices.isEmpty() && Breadcrumb.has(scene.state)) {
      Breadcrumb.paint(scene, grid, row);
    }
    if (!notices.isEmpty()) {
      int n = notices.size();
      String others = n > 1 ? " (" + n + " notices; ? shows them)" : "";
      grid.fill(0, row, scene.columns, Paint.of(Role.GROUND));
      int room = scene.columns - 2 - TextWidth.of(others);
      int used =
          1
              + grid.text(
                  1,
                  row,
                  room,
                  notices.get(n - 1),
                  Paint.of(Role.WORSE),
                  Paint.of(Role.GROUND),
                  CellGrid.BOLD);
      grid.text(
          used, row, scene.columns - used, others, Paint.of(Role.DIM), Paint.of(Role.GROUND), 0);
    }
  }

  static void rule(CellGrid grid, int row) {
    for (int x = 0; x < grid.columns(); x++) {
      grid.put(x, row, '─', Paint.faded(Paint.of(Role.DIM)), Paint.of(Role.GROUND), 0);
    }
  }
}
