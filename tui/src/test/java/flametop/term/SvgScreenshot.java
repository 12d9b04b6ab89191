package flametop.term;

import flametop.view.CellGrid;
import java.util.Locale;

/**
 * A picture as SVG text: the cells as they would look in a terminal, block characters drawn as
 * rectangles.
 */
public final class SvgScreenshot {
  private static final int CELL_WIDTH = 9;
  private static final int CELL_HEIGHT = 19;
  private static final String LEFT_BLOCKS = "▏▎▍▌▋▊▉█";
  private static final String LOWER_BLOCKS = "▁▂▃▄▅▆▇█";

  private SvgScreenshot() {}

  /** Renders a painted picture in the colours of a theme. */
  public static String render(CellGrid grid, Theme theme) {
    int width = grid.columns() * CELL_WIDTH;
    int height = grid.rows() * CELL_HEIGHT;
    StringBuilder svg = new StringBuilder(grid.columns() * grid.rows() * 8);
    svg.append(
        String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\""
                + " font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"15\" xml:space=\"preserve\">\n",
            width,
            height,
            width,
            height));
    for (int y = 0; y < grid.rows(); y++) {
      backgrounds(svg, grid, theme, y);
      for (int x = 0; x < grid.columns(); x++) {
        block(svg, grid, theme, x, y);
      }
      texts(svg, grid, theme, y);
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
    } else if (c == '─') {
      svg.append(
          String.format(
              Locale.ROOT,
              "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"1\" fill=\"#%06x\"/>\n",
              x * CELL_WIDTH,
              (y + 0.5) * CELL_HEIGHT,
              CELL_WIDTH,
              colour));
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
      // One element for a run of the same look; single blanks stay within it.
      while (x < grid.columns()
          && grid.codePoint(x, y) != 0
          && (isText(grid.codePoint(x, y)) || grid.codePoint(x, y) == ' ')
          && grid.attributes(x, y) == attributes
          && theme.foreground(grid.foreground(x, y), grid.background(x, y)) == colour) {
        text.appendCodePoint(grid.codePoint(x, y));
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
      escape(svg, run);
      svg.append("</text>\n");
    }
  }

  private static boolean isText(int c) {
    return c != ' '
        && c != 0
        && c != '─'
        && LEFT_BLOCKS.indexOf(c) < 0
        && LOWER_BLOCKS.indexOf(c) < 0;
  }

  private static void escape(StringBuilder svg, String text) {
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '<' -> svg.append("&lt;");
        case '>' -> svg.append("&gt;");
        case '&' -> svg.append("&amp;");
        default -> svg.append(c);
      }
    }
  }
}
