package flametop.view.screen;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;
import flametop.view.layout.Scene;
import flametop.view.paint.FormatPainter;
import flametop.view.paint.HelpPainter;
import flametop.view.paint.LinePainter;
import flametop.view.paint.PickPainter;
import flametop.view.paint.SourceListPainter;
import flametop.view.state.PickList;
import org.jspecify.annotations.Nullable;

/** Paints a picture: a pure function from snapshot, state, size and options to cells. */
public final class Painter {
  private Painter() {}

  /** Paints a scene. */
  public static CellGrid paint(Scene scene) {
    return paint(scene, null);
  }

  /**
   * Paints a scene over an older picture that nobody needs, if it has the right size.
   *
   * @param over may be null
   */
  public static CellGrid paint(Scene scene, @Nullable CellGrid over) {
    CellGrid grid;
    if (over != null && over.columns() == scene.columns && over.rows() == scene.rows) {
      grid = over;
      grid.clear();
    } else {
      grid = new CellGrid(scene.columns, scene.rows);
    }
    if (scene.tooSmall()) {
      tooSmall(scene, grid);
    } else {
      LinePainter.header(scene, grid);
      Views.painter(scene.state.view()).paint(scene, grid);
      PickList pick = scene.state.pick();
      if (pick != null) {
        PickPainter.paint(scene, pick, grid);
      }
      if (scene.state.formats().open()) {
        FormatPainter.paint(scene, grid);
      }
      if (scene.state.sources() != null) {
        SourceListPainter.paint(scene, scene.state.sources(), grid);
      }
      if (scene.state.help()) {
        HelpPainter.paint(scene, grid, Views.legend(scene));
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
}
