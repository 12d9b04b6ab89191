package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Prompt;
import flametop.view.base.Role;
import flametop.view.base.TextWidth;

/** Paints a line that is typed, with its cursor. */
public final class PromptPainter {
  private PromptPainter() {}

  /**
   * Paints the line into {@code room} columns. Of a longer text, paints the part around the cursor.
   *
   * @return columns used, the cursor behind the text included
   */
  public static int paint(CellGrid grid, int x, int y, int room, Prompt prompt, int background) {
    String text = prompt.text();
    int cursor = prompt.cursor();
    // A cursor behind the text takes a column of its own.
    int from = 0;
    while (from < cursor && TextWidth.exceeds(text.substring(from, cursor), room - 2)) {
      from = prompt.after(from);
    }
    int to = cursor;
    while (to < text.length()
        && !TextWidth.exceeds(text.substring(from, prompt.after(to)), room - 1)) {
      to = prompt.after(to);
    }
    int ink = Paint.TEXT;
    int used = grid.text(x, y, room, text.substring(from, cursor), ink, background, 0);
    int mark = Paint.of(Role.SELECT);
    if (cursor == to) {
      grid.put(x + used, y, ' ', ink, mark, CellGrid.UNDERLINE);
      return used + 1;
    }
    int behind = prompt.after(cursor);
    used +=
        grid.text(
            x + used,
            y,
            room - used,
            text.substring(cursor, behind),
            ink,
            mark,
            CellGrid.UNDERLINE);
    return used
        + grid.text(x + used, y, room - used, text.substring(behind, to), ink, background, 0);
  }
}
