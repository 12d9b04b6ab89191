package flametop.view.paint;

import flametop.profile.answer.Source;
import flametop.sampler.Call;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Origin;
import flametop.view.base.Paint;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.Scene;
import java.util.List;

/**
 * Paints the place of the selected node in the source: its lines, and the functions inlined there.
 */
final class SourcePainter {

  /** Cells of a share, and of the indent of each inlined function. */
  private static final int SHARE = 7;

  private static final int STEP = 2;
  private static final int MOST_STEPS = 8;

  private SourcePainter() {}

  static void paint(Scene scene, Source source, CellGrid grid) {
    int top = scene.graphTop + scene.graphRows;
    int end = scene.columns - 1;
    int bottom = top + scene.sourceRows;
    grid.fill(0, top, scene.columns, scene.sourceRows, Paint.CHROME);
    boolean known = source.node() == scene.state.selected();
    String hint = hint(scene);
    Words head = new Words(grid, 1, top, end, Paint.CHROME);
    head.write("source ", Paint.ACCENT, CellGrid.BOLD);
    if (known) {
      head.write(head.room() - hint.length() - 1, source.name(), Paint.TEXT, 0);
    }
    head.atTheEnd(hint, Paint.DIM);
    if (!known || source.places().isEmpty()) {
      String text = known ? "this is no function" : "looking…";
      grid.text(1, top + 1, end - 1, text, Paint.DIM, Paint.CHROME, 0);
      return;
    }
    int y = top + 1;
    int due = source.places().size();
    for (Source.Place place : source.places()) {
      // The last row counts the lines without room.
      int rows = Math.max(1, place.calls().size());
      boolean last = due == 1 && source.others() == 0;
      if (y > top + 1 && y + rows > bottom - (last ? 0 : 1)) {
        break;
      }
      y = place(scene, grid, source, place, y, bottom);
      due--;
    }
    int more = due + source.others();
    if (more > 0 && y < bottom) {
      grid.text(1 + SHARE, y, end - SHARE - 1, "… " + more + " more", Paint.DIM, Paint.CHROME, 0);
    }
  }

  /** The key that closes the pane, if it has one. */
  private static String hint(Scene scene) {
    List<Key> keys = scene.options.keymap().keys(Action.SOURCE);
    return keys.isEmpty() ? "" : keys.get(0).symbol() + " closes";
  }

  private static int place(
      Scene scene, CellGrid grid, Source source, Source.Place place, int top, int bottom) {
    int end = scene.columns - 1;
    double share = source.weight() <= 0 ? 0 : (double) place.weight() / source.weight();
    grid.text(1, top, SHARE, Units.percentField(share), Paint.TEXT, Paint.CHROME, CellGrid.BOLD);
    int x = 1 + SHARE;
    List<Call> calls = place.calls();
    if (calls.isEmpty()) {
      boolean awaited = place.missing().isEmpty();
      String text =
          !awaited
              ? place.missing()
              : scene.options.origin() == Origin.RECORDING
                  ? "not in the recording; record with --lines"
                  : "reading debug information…";
      grid.text(x, top, end - x, text, awaited ? Paint.DIM : Paint.TEXT, Paint.CHROME, 0);
      return top + 1;
    }
    // The outermost calls are left out first: the function itself stands above.
    int first = Math.max(0, calls.size() - (bottom - top));
    int y = top;
    for (int i = first; i < calls.size(); i++) {
      Call call = calls.get(i);
      int at = x + STEP * Math.min(i - first, MOST_STEPS);
      String function = call.function().isEmpty() ? "?" : call.function();
      int both = end - at - 1;
      String line = line(call, Math.max(both / 2, both - TextWidth.of(function)));
      int room = Math.max(0, both - TextWidth.of(line));
      new Words(grid, at, y, end, Paint.CHROME)
          .write(room, function, i == 0 ? Paint.TEXT : Paint.ACCENT, 0)
          .skip(1)
          .write(line, Paint.DIM);
      y++;
    }
    return y;
  }

  /** File and line; a long path is cut at its beginning. */
  private static String line(Call call, int room) {
    if (call.file().isEmpty()) {
      return "";
    }
    String text = call.line() > 0 ? call.file() + ":" + call.line() : call.file();
    if (!TextWidth.exceeds(text, room)) {
      return text;
    }
    while (TextWidth.exceeds(text, room - 1)) {
      text = text.substring(text.offsetByCodePoints(0, 1));
    }
    return "…" + text;
  }
}
