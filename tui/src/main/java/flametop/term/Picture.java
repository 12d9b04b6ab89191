package flametop.term;

import flametop.export.XmlText;
import flametop.view.base.CellGrid;
import java.util.List;
import java.util.Locale;

/** A painted screen as a file: SVG, or text. */
public final class Picture {
  private static final int CELL_WIDTH = 9;
  private static final int CELL_HEIGHT = 19;
  private static final String LEFT_BLOCKS = "▏▎▍▌▋▊▉█";
  private static final char UPPER_HALF = '▀';
  private static final String LOWER_BLOCKS = "▁▂▃▄▅▆▇█";

  private final CellGrid grid;
  private final Theme theme;
  private final StringBuilder svg = new StringBuilder();

  private Picture(CellGrid grid, Theme theme) {
    this.grid = grid;
    this.theme = theme;
  }

  /**
   * The rows of cells, without the blanks at their ends; below them lines {@code # …}.
   *
   * @param facts the origin of the picture
   */
  public static String text(CellGrid grid, List<String> facts) {
    StringBuilder text = new StringBuilder((grid.columns() + 1) * grid.rows());
    for (int y = 0; y < grid.rows(); y++) {
      int begin = text.length();
      int end = begin;
      for (int x = 0; x < grid.columns(); x++) {
        int c = grid.codePoint(x, y);
        // The right half of a wide character.
        if (c != 0) {
          text.appendCodePoint(c);
          end = c == ' ' ? end : text.length();
        }
      }
      text.setLength(end);
      text.append('\n');
    }
    for (String fact : facts) {
      text.append("# ").append(fact).append('\n');
    }
    return text.toString();
  }

  /**
   * SVG: the cells as they would look in a terminal in the colours of a theme, block characters
   * drawn as rectangles.
   *
   * @param title of the picture
   * @param facts its metadata
   */
  public static String svg(CellGrid grid, Theme theme, String title, List<String> facts) {
    return new Picture(grid, theme).svg(title, facts);
  }

  /** The whole picture. */
  private String svg(String title, List<String> facts) {
    int width = grid.columns() * CELL_WIDTH;
    int height = grid.rows() * CELL_HEIGHT;
    append(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
            + " font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"15\">\n",
        width, height, width, height);
    append("<title>%s</title>\n<metadata>\n", XmlText.escaped(title));
    facts.forEach(fact -> append("%s\n", XmlText.escaped(fact)));
    append("</metadata>\n");
    for (int y = 0; y < grid.rows(); y++) {
      backgrounds(y);
      for (int x = 0; x < grid.columns(); x++) {
        block(x, y);
      }
      texts(y);
      underlines(y);
    }
    return svg.append("</svg>\n").toString();
  }

  private void append(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format, values));
  }

  private int ground(int x, int y) {
    return theme.background(grid.background(x, y));
  }

  private int ink(int x, int y) {
    return theme.foreground(grid.foreground(x, y), grid.background(x, y));
  }

  private void backgrounds(int y) {
    int from = 0;
    for (int x = 1; x <= grid.columns(); x++) {
      if (x == grid.columns() || ground(x, y) != ground(from, y)) {
        rectangle(from * 8, x * 8, y * 8, y * 8 + 8, ground(from, y));
        from = x;
      }
    }
  }

  private void block(int x, int y) {
    int c = grid.codePoint(x, y);
    int colour = ink(x, y);
    int left = LEFT_BLOCKS.indexOf(c);
    int lower = LOWER_BLOCKS.indexOf(c);
    if (left >= 0) {
      rectangle(x * 8, x * 8 + left + 1, y * 8, y * 8 + 8, colour);
    } else if (lower >= 0) {
      rectangle(x * 8, x * 8 + 8, y * 8 + 7 - lower, y * 8 + 8, colour);
    } else if (c == UPPER_HALF) {
      rectangle(x * 8, x * 8 + 8, y * 8, y * 8 + 4, colour);
    } else if (c == '─') {
      line(x, x + 1, (y + 0.5) * CELL_HEIGHT, colour);
    }
  }

  /** Edges in eighths of a cell. */
  private void rectangle(int left, int right, int top, int bottom, int colour) {
    append(
        "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"#%06x\" shape-rendering=\"crispEdges\"/>\n",
        number(left * CELL_WIDTH / 8.0),
        number(top * CELL_HEIGHT / 8.0),
        number((right - left) * CELL_WIDTH / 8.0),
        number((bottom - top) * CELL_HEIGHT / 8.0),
        colour);
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, "%.3f", value);
    return text.replaceAll("\\.?0+$", "");
  }

  private void texts(int y) {
    int x = 0;
    while (x < grid.columns()) {
      if (!isText(grid.codePoint(x, y))) {
        x++;
        continue;
      }
      int from = x;
      int colour = ink(x, y);
      int attributes = grid.attributes(x, y);
      StringBuilder text = new StringBuilder();
      // A run of the same look is one element. It contains single blanks only: some programs would
      // draw several as one. The right half of a wide character has no text of its own.
      while (x < grid.columns()
          && (grid.codePoint(x, y) == 0 || isText(grid.codePoint(x, y)) || isSingleBlank(x, y))
          && grid.attributes(x, y) == attributes
          && ink(x, y) == colour) {
        if (grid.codePoint(x, y) != 0) {
          text.appendCodePoint(grid.codePoint(x, y));
        }
        x++;
      }
      String run = text.toString().stripTrailing();
      int cells = x - from - (text.length() - run.length());
      append(
          "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s>%s</text>\n",
          from * CELL_WIDTH,
          y * CELL_HEIGHT + 15,
          cells * CELL_WIDTH,
          colour,
          (attributes & CellGrid.BOLD) != 0 ? " font-weight=\"bold\"" : "",
          XmlText.escaped(run));
    }
  }

  private void underlines(int y) {
    for (int x = 0; x < grid.columns(); ) {
      int from = x++;
      if ((grid.attributes(from, y) & CellGrid.UNDERLINE) == 0) {
        continue;
      }
      int colour = ink(from, y);
      while (x < grid.columns()
          && (grid.attributes(x, y) & CellGrid.UNDERLINE) != 0
          && ink(x, y) == colour) {
        x++;
      }
      line(from, x, (y + 1) * CELL_HEIGHT - 2.0, colour);
    }
  }

  /** A line over cells of a row, in pixels from the top. */
  private void line(int from, int to, double top, int colour) {
    append(
        "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"1\" fill=\"#%06x\"/>\n",
        from * CELL_WIDTH, top, (to - from) * CELL_WIDTH, colour);
  }

  private boolean isSingleBlank(int x, int y) {
    return grid.codePoint(x, y) == ' '
        && x + 1 < grid.columns()
        && isText(grid.codePoint(x + 1, y));
  }

  private static boolean isText(int c) {
    return c != ' '
        && c != 0
        && c != '─'
        && c != UPPER_HALF
        && LEFT_BLOCKS.indexOf(c) < 0
        && LOWER_BLOCKS.indexOf(c) < 0;
  }
}
