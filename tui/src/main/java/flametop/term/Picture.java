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

  private Picture() {}

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
    int width = grid.columns() * CELL_WIDTH;
    int height = grid.rows() * CELL_HEIGHT;
    StringBuilder svg = new StringBuilder(grid.columns() * grid.rows() * 8);
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
                + " font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"15\">\n",
            width,
            height,
            width,
            height));
    svg.append("<title>");
    svg.append(XmlText.escaped(title));
    svg.append("</title>\n<metadata>\n");
    for (String fact : facts) {
      svg.append(XmlText.escaped(fact));
      svg.append('\n');
    }
    svg.append("</metadata>\n");
    for (int y = 0; y < grid.rows(); y++) {
      backgrounds(svg, grid, theme, y);
      for (int x = 0; x < grid.columns(); x++) {
        block(svg, grid, theme, x, y);
      }
      texts(svg, grid, theme, y);
      underlines(svg, grid, theme, y);
    }
    return svg.append("</svg>\n").toString();
  }

  private static void backgrounds(StringBuilder svg, CellGrid grid, Theme theme, int y) {
    int from = 0;
    for (int x = 1; x <= grid.columns(); x++) {
      if (x == grid.columns()
          || theme.background(grid.background(x, y))
              != theme.background(grid.background(from, y))) {
        rectangle(
            svg, from * 8, x * 8, y * 8, y * 8 + 8, theme.background(grid.background(from, y)));
        from = x;
      }
    }
  }

  private static void block(StringBuilder svg, CellGrid grid, Theme theme, int x, int y) {
    int c = grid.codePoint(x, y);
    int colour = theme.foreground(grid.foreground(x, y), grid.background(x, y));
    int left = LEFT_BLOCKS.indexOf(c);
    int lower = LOWER_BLOCKS.indexOf(c);
    if (left >= 0) {
      rectangle(svg, x * 8, x * 8 + left + 1, y * 8, y * 8 + 8, colour);
    } else if (lower >= 0) {
      rectangle(svg, x * 8, x * 8 + 8, y * 8 + 7 - lower, y * 8 + 8, colour);
    } else if (c == UPPER_HALF) {
      rectangle(svg, x * 8, x * 8 + 8, y * 8, y * 8 + 4, colour);
    } else if (c == '─') {
      line(svg, x, x + 1, (y + 0.5) * CELL_HEIGHT, colour);
    }
  }

  /** Edges in eighths of a cell. */
  private static void rectangle(
      StringBuilder svg, int left, int right, int top, int bottom, int colour) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"#%06x\" shape-rendering=\"crispEdges\"/>\n",
            number(left * CELL_WIDTH / 8.0),
            number(top * CELL_HEIGHT / 8.0),
            number((right - left) * CELL_WIDTH / 8.0),
            number((bottom - top) * CELL_HEIGHT / 8.0),
            colour));
  }

  private static String number(double value) {
    String text = String.format(Locale.ROOT, "%.3f", value);
    return text.replaceAll("\\.?0+$", "");
  }

  private static void texts(StringBuilder svg, CellGrid grid, Theme theme, int y) {
    int x = 0;
    while (x < grid.columns()) {
      if (!isText(grid.codePoint(x, y))) {
        x++;
        continue;
      }
      int from = x;
      int colour = theme.foreground(grid.foreground(x, y), grid.background(x, y));
      int attributes = grid.attributes(x, y);
      StringBuilder text = new StringBuilder();
      // A run of the same look is one element. It contains single blanks only: some programs would
      // draw several as one. The right half of a wide character has no text of its own.
      while (x < grid.columns()
          && (isText(grid.codePoint(x, y)) || isHalf(grid, x, y) || isSingleBlank(grid, x, y))
          && grid.attributes(x, y) == attributes
          && theme.foreground(grid.foreground(x, y), grid.background(x, y)) == colour) {
        if (grid.codePoint(x, y) != 0) {
          text.appendCodePoint(grid.codePoint(x, y));
        }
        x++;
      }
      int cells = x - from;
      String run = text.toString().stripTrailing();
      cells -= text.length() - run.length();
      svg.append(
          String.format(
              Locale.ROOT,
              "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s>",
              from * CELL_WIDTH,
              y * CELL_HEIGHT + 15,
              cells * CELL_WIDTH,
              colour,
              (attributes & CellGrid.BOLD) != 0 ? " font-weight=\"bold\"" : ""));
      svg.append(XmlText.escaped(run));
      svg.append("</text>\n");
    }
  }

  private static void underlines(StringBuilder svg, CellGrid grid, Theme theme, int y) {
    for (int x = 0; x < grid.columns(); ) {
      int from = x++;
      if ((grid.attributes(from, y) & CellGrid.UNDERLINE) == 0) {
        continue;
      }
      int colour = theme.foreground(grid.foreground(from, y), grid.background(from, y));
      while (x < grid.columns()
          && (grid.attributes(x, y) & CellGrid.UNDERLINE) != 0
          && theme.foreground(grid.foreground(x, y), grid.background(x, y)) == colour) {
        x++;
      }
      line(svg, from, x, (y + 1) * CELL_HEIGHT - 2.0, colour);
    }
  }

  /** A line over cells of a row, in pixels from the top. */
  private static void line(StringBuilder svg, int from, int to, double top, int colour) {
    svg.append(
        String.format(
            Locale.ROOT,
            "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"1\" fill=\"#%06x\"/>\n",
            from * CELL_WIDTH,
            top,
            (to - from) * CELL_WIDTH,
            colour));
  }

  private static boolean isHalf(CellGrid grid, int x, int y) {
    return grid.codePoint(x, y) == 0;
  }

  private static boolean isSingleBlank(CellGrid grid, int x, int y) {
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
