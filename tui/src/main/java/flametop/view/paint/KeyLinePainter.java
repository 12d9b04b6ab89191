package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Prompt;
import flametop.view.base.TextWidth;
import flametop.view.layout.KeyLine;
import flametop.view.layout.Scene;
import flametop.view.state.Search;
import flametop.view.state.ViewState;

/**
 * Paints the last row: the answer to a key, the search or time that is typed, the keys of the view.
 */
public final class KeyLinePainter {

  private KeyLinePainter() {}

  public static void paint(Scene scene, CellGrid grid) {
    int y = scene.rows - 1;
    grid.fill(0, y, scene.columns, Paint.GROUND);
    ViewState state = scene.state;
    Search search = state.search();
    if (search != null && search.typing()) {
      typing(scene, search, grid, y);
      return;
    }
    Prompt time = state.time().typed();
    if (time != null) {
      typing(scene, time, grid, y);
      return;
    }
    if (!state.message().isEmpty()) {
      int paint = state.said().trouble() ? Paint.WORSE : Paint.ACCENT;
      words(scene, grid, y).write(state.said().counted(), paint, CellGrid.BOLD);
    }
    for (KeyLine.Entry entry : KeyLine.of(scene).entries()) {
      int keys = TextWidth.of(entry.keys());
      grid.text(entry.x(), y, keys, entry.keys(), Paint.ACCENT, Paint.GROUND, CellGrid.BOLD);
      int label = entry.x() + keys + 1;
      grid.text(label, y, entry.width(), entry.label(), Paint.DIM, Paint.GROUND, 0);
    }
  }

  private static void typing(Scene scene, Prompt time, CellGrid grid, int y) {
    String said = scene.state.said().counted();
    String hint = said.isEmpty() ? "14:03, 14:03:20, -3m, 14:03-14:05" : said;
    Words words = words(scene, grid, y).write("go to ", Paint.ACCENT, CellGrid.BOLD);
    words.write(scene.columns - 2 - words.x(), time).atTheEnd(hint, Paint.DIM);
  }

  private static Words words(Scene scene, CellGrid grid, int y) {
    return new Words(grid, 1, y, scene.columns - 1, Paint.GROUND);
  }

  private static void typing(Scene scene, Search search, CellGrid grid, int y) {
    String answer = search.trouble();
    String said = scene.state.said().counted();
    String hint =
        !answer.isEmpty()
            ? "no regex: " + answer
            : !said.isEmpty()
                ? said
                : scene.columns < 100
                    ? "enter keeps it, esc drops it"
                    : "enter keeps it, esc drops it, tab completes, ↑ older ones";
    int hintX = scene.columns - 1 - TextWidth.of(hint);
    int room = Math.max(10, (answer.isEmpty() && hintX < 20 ? scene.columns : hintX) - 4);
    words(scene, grid, y)
        .write("/", Paint.ACCENT, CellGrid.BOLD)
        .write(room + 1, search.prompt())
        .atTheEnd(hint, answer.isEmpty() ? Paint.DIM : Paint.WORSE);
  }
}
