package flametop.view.table;

import flametop.profile.answer.Function;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import flametop.view.base.ShortName;
import flametop.view.base.TextWidth;
import flametop.view.base.Units;
import flametop.view.layout.Scene;
import flametop.view.paint.Bar;
import flametop.view.paint.Comparison;
import java.util.List;

/** One cell of a table, where a column writes. */
public final class Spot {
  /**
   * The row of a cell.
   *
   * @param marked whether the row is the marked one
   * @param first whether the row is the first in sight
   * @param faint whether its text is faint
   * @param attribute of all text in the row
   */
  record Line(
      Scene scene,
      CellGrid grid,
      int y,
      boolean marked,
      boolean first,
      boolean faint,
      int attribute) {
    int background() {
      return marked ? Paint.SELECTED_ROW : Paint.GROUND;
    }
  }

  final Scene scene;
  final CellGrid grid;
  final int x;
  final int y;
  final int width;
  final boolean marked;
  final boolean first;
  final int bg;
  final int fg;

  /** The colour of text that does not stand out. */
  final int quiet;

  private final int attribute;
  private final boolean right;

  Spot(Line line, int x, int width, boolean right) {
    scene = line.scene;
    grid = line.grid;
    this.x = x;
    y = line.y;
    this.width = width;
    this.right = right;
    marked = line.marked;
    first = line.first;
    attribute = line.attribute;
    bg = line.background();
    fg = marked ? Paint.INK : line.faint ? Paint.DIM : Paint.TEXT;
    quiet = marked ? fg : Paint.DIM;
  }

  void text(String text) {
    text(text, fg, 0);
  }

  /** Text that does not stand out. */
  void quiet(String text) {
    text(text, quiet, 0);
  }

  void text(String text, int paint, int more) {
    write(text, paint, attribute | more);
  }

  private void write(String text, int paint, int style) {
    int from = right ? Math.max(0, width - TextWidth.of(text)) : 0;
    grid.text(x + from, y, width - from, text, paint, bg, style);
  }

  /** Text that is not bold, whatever the row is. */
  void plain(String text, int paint) {
    write(text, paint, 0);
  }

  /** A figure, quiet if it is one of those that say nothing. */
  void figure(String text, int more, String... none) {
    text(text, List.of(none).contains(text) ? quiet : fg, more);
  }

  /** A share, quiet if it is none. */
  void share(double share) {
    figure(Units.tenths(share), 0, "0.0%");
  }

  /**
   * A change: coloured as the graph would be, unless the row is marked.
   *
   * @param change {@code Noise.change}
   * @param share by which it is another
   */
  void change(double change, double share) {
    int paint = marked || change == 0 ? quiet : Paint.of(Comparison.role(change));
    text(Comparison.figure(change, share), paint, Comparison.attribute(change));
  }

  /** A bar of parts, each a share of the width. */
  void bar(double[] parts, int... paints) {
    Bar.paint(grid, x, y, width, parts, paints, trough(), scene.options);
  }

  /** The colour of the part that a bar does not fill. */
  int trough() {
    return marked ? bg : Paint.CHROME;
  }

  /** A block in the colour of the function's kind, then as much of its name as has room. */
  void name(Function function, int more) {
    grid.put(x, y, '▌', paint(function), bg, 0);
    String name = function.name();
    String text = function.kind().isFrame() ? ShortName.form(name, width - 2) : name;
    grid.text(x + 2, y, width - 2, text, fg, bg, more);
  }

  static int paint(Function function) {
    return Paint.of(Role.of(function.kind()), Paint.shade(function.name()));
  }
}
