package flametop.view.paint;

import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Prompt;
import flametop.view.base.TextWidth;
import flametop.view.layout.Piece;
import flametop.view.state.PaintOptions;
import java.util.List;

/** Writes words into a row from left to right, as far as there is room. */
public final class Words {
  private final CellGrid grid;
  private final int y;
  private final int end;
  private final int background;
  private int x;

  /**
   * @param x the column for the first word
   * @param end the column behind the last one
   */
  public Words(CellGrid grid, int x, int y, int end, int background) {
    this.grid = grid;
    this.x = x;
    this.y = y;
    this.end = end;
    this.background = background;
  }

  /** The column behind what is written. */
  public int x() {
    return x;
  }

  /** Cells that are left. */
  int room() {
    return end - x;
  }

  public Words skip(int cells) {
    x += cells;
    return this;
  }

  public Words write(String text, int paint) {
    return write(text, paint, 0);
  }

  public Words write(String text, int paint, int style) {
    return write(end - x, text, paint, style);
  }

  /** Writes a text in at most so many cells. */
  Words write(int most, String text, int paint, int style) {
    x += grid.text(x, y, Math.min(most, end - x), text, paint, background, style);
    return this;
  }

  /** Writes a text into a field of so many cells. */
  public Words field(int cells, String text, int paint, int style) {
    grid.text(x, y, Math.min(cells, end - x), text, paint, background, style);
    return skip(cells);
  }

  Words write(Piece piece) {
    return write(piece.text(), Paint.of(piece.role()), piece.bold() ? CellGrid.BOLD : 0);
  }

  Words write(List<Piece> pieces) {
    pieces.forEach(this::write);
    return this;
  }

  /** Paints a share as a bar of so many cells. */
  Words bar(int cells, double share, int paint, PaintOptions options) {
    double[] parts = {share};
    Bar.paint(grid, x, y, cells, parts, new int[] {paint}, background, options);
    return skip(cells);
  }

  /** Writes a typed line and its cursor in at most so many cells. */
  Words write(int most, Prompt prompt) {
    return skip(PromptPainter.paint(grid, x, y, most, prompt, background));
  }

  /** Writes a text at the right end, if that is behind what is written. */
  Words atTheEnd(String text, int paint) {
    int from = end - TextWidth.of(text);
    if (from > x) {
      grid.text(from, y, end - from, text, paint, background, 0);
    }
    return this;
  }
}
