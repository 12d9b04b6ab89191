package flametop.view.base;

import java.util.Arrays;

/**
 * One painted picture: for each cell a code point, two {@link Paint paints} and attributes. A wide
 * character fills its cell and the one to its right, whose code point is 0.
 */
public final class CellGrid {
  public static final int BOLD = 1;
  public static final int UNDERLINE = 2;

  /** The background of text that leaves the background of each cell as it is. */
  public static final int AS_IT_IS = -1;

  /** Characters of the screen, and below each the one of ASCII that looks most like it. */
  private static final String[] LIKE = {
    "…●❚▼▲·±─│▏▎▍↵┌┐└┘▁▂▃▄▅▆■▇█▉▊▋▌▚▓▒░╱—µ→›×←↑↓", "~*|v^.~-||||>++++_.--==#######%=-./-u>>x<^v"
  };

  private static final short GROUND = (short) Paint.of(Role.GROUND);
  private static final short TEXT = (short) Paint.of(Role.TEXT);

  private final int columns;
  private final int rows;

  /** Cells from one row to the next, and before the first one. */
  private final int stride;

  private final int origin;
  private final int[] codePoint;
  private final short[] foreground;
  private final short[] background;
  private final byte[] attributes;

  public CellGrid(int columns, int rows) {
    this.columns = columns;
    this.rows = rows;
    stride = columns;
    origin = 0;
    int cells = columns * rows;
    codePoint = new int[cells];
    foreground = new short[cells];
    background = new short[cells];
    attributes = new byte[cells];
    clear();
  }

  private CellGrid(CellGrid whole, int left, int columns) {
    this.columns = columns;
    rows = whole.rows;
    stride = whole.stride;
    origin = whole.origin + left;
    codePoint = whole.codePoint;
    foreground = whole.foreground;
    background = whole.background;
    attributes = whole.attributes;
  }

  /** A grid of some columns of this one: both show whatever is painted in either. */
  public CellGrid window(int left, int width) {
    return new CellGrid(this, left, width);
  }

  private int at(int x, int y) {
    return origin + y * stride + x;
  }

  /** Blanks the whole grid. */
  public void clear() {
    Arrays.fill(codePoint, ' ');
    Arrays.fill(foreground, TEXT);
    Arrays.fill(background, GROUND);
    Arrays.fill(attributes, (byte) 0);
  }

  public int columns() {
    return columns;
  }

  public int rows() {
    return rows;
  }

  public int codePoint(int x, int y) {
    return codePoint[at(x, y)];
  }

  public int foreground(int x, int y) {
    return foreground[at(x, y)];
  }

  public int background(int x, int y) {
    return background[at(x, y)];
  }

  public int attributes(int x, int y) {
    return attributes[at(x, y)];
  }

  /** Whether a cell looks as in another picture of the same size. */
  public boolean same(CellGrid other, int x, int y) {
    int i = at(x, y);
    return same(i, other, i);
  }

  /** Whether two cells of a row look the same. */
  public boolean same(int x, int otherX, int y) {
    return same(at(x, y), this, at(otherX, y));
  }

  /** Whether two cells look the same. A blank without an underline shows its background alone. */
  private boolean same(int i, CellGrid other, int j) {
    return codePoint[i] == other.codePoint[j]
        && background[i] == other.background[j]
        && (foreground[i] == other.foreground[j] && attributes[i] == other.attributes[j]
            || codePoint[i] == ' ' && ((attributes[i] | other.attributes[j]) & UNDERLINE) == 0);
  }

  /**
   * Sets one cell with a narrow character; {@code bg} may be {@link #AS_IT_IS}. Outside of the grid
   * nothing happens.
   */
  public void put(int x, int y, int character, int fg, int bg, int attribute) {
    if (x < 0 || x >= columns || y < 0 || y >= rows) {
      return;
    }
    int i = at(x, y);
    // A wide character that loses a half is blanked: a terminal cannot draw a half.
    if (codePoint[i] == 0 && x > 0) {
      codePoint[i - 1] = ' ';
    }
    if (x + 1 < columns && codePoint[i + 1] == 0) {
      codePoint[i + 1] = ' ';
    }
    codePoint[i] = character;
    foreground[i] = (short) fg;
    if (bg != AS_IT_IS) {
      background[i] = (short) bg;
    }
    attributes[i] = (byte) attribute;
  }

  /** Blanks a run of cells of one row. */
  public void fill(int x, int y, int width, int bg) {
    for (int i = Math.max(0, x); i < Math.min(columns, x + width); i++) {
      put(i, y, ' ', Paint.of(Role.TEXT), bg, 0);
    }
  }

  /** Blanks a rectangle. */
  public void fill(int x, int y, int width, int height, int bg) {
    for (int row = y; row < y + height; row++) {
      fill(x, row, width, bg);
    }
  }

  /**
   * Writes text from {@code x} on, cut to {@code width} columns with an ellipsis at its end if the
   * text is longer. The text has the colour {@link Paint#words}.
   *
   * @return columns used
   */
  public int text(int x, int y, int width, String text, int fg, int bg, int attribute) {
    int room = Math.min(width, columns - x);
    if (room <= 0 || y < 0 || y >= rows) {
      return 0;
    }
    boolean cut = TextWidth.exceeds(text, room);
    int limit = cut ? room - 1 : room;
    int ink = Paint.words(fg);
    int used = 0;
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      int w = TextWidth.of(c);
      if (w == 0) {
        continue;
      }
      if (used + w > limit) {
        break;
      }
      put(x + used, y, TextWidth.drawable(c), ink, bg, attribute);
      if (w == 2) {
        put(x + used + 1, y, ' ', ink, bg, attribute);
        codePoint[at(x + used + 1, y)] = 0;
      }
      used += w;
    }
    if (cut) {
      put(x + used, y, '…', ink, bg, attribute);
      used++;
    }
    return used;
  }

  /** Replaces each character outside of ASCII by the ASCII character that looks most like it. */
  public void toAscii() {
    for (int i = 0; i < codePoint.length; i++) {
      int c = codePoint[i];
      if (c >= 0x7f || c == 0) {
        codePoint[i] = ascii(c);
      }
    }
  }

  private static int ascii(int c) {
    int at = LIKE[0].indexOf(c);
    return at < 0 ? '?' : LIKE[1].charAt(at);
  }
}
