package flametop.term;

import flametop.term.device.FrameStream;
import flametop.view.base.CellGrid;
import flametop.view.base.Paint;
import flametop.view.base.Role;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes painted cells to a terminal: only cells that changed, in few bytes.
 *
 * <p>The writer knows the place of the cursor and the pen (colours and attributes) of the terminal,
 * from one picture to the next. An unchanged cell is written again if that takes fewer bytes than a
 * move past the cell; of a blank only the background counts.
 */
final class CellWriter {
  private static final int BOLD = CellGrid.BOLD;
  private static final int UNDERLINE = CellGrid.UNDERLINE;
  static final int REVERSE = 4;

  /** The attributes that a blank shows. */
  private static final int SEEN_BLANK = UNDERLINE | REVERSE;

  /** The most unchanged cells that are written again: a move past them takes as many bytes. */
  private static final int GAP = 5;

  /** The most blanks that are written and not erased. */
  private static final int BLANKS = 8;

  private static final int PENS = 1 << 9;

  private final Theme theme;
  private final ColorMode mode;
  private final boolean columnMoves;
  private final boolean erases;

  // Open addressing by (foreground, background, attributes) of a cell. The theme takes long to find
  // a colour.
  private long[] cells = new long[PENS];
  private Pen[] pens = new Pen[PENS];
  private int size;

  private final FrameStream out;
  private int columns;

  // The default colours of the terminal.
  private int penForeground;
  private int penBackground;
  private int penAttributes;

  /** The pen of the cells that nothing was written to since the screen was cleared. */
  private Pen cleared = new Pen(Theme.DEFAULT, Theme.DEFAULT, 0);

  private int cursorX;

  /** -1 if not known. */
  private int cursorY;

  /** Colours as of {@link Theme#foreground}. */
  record Pen(int foreground, int background, int attributes) {}

  /**
   * @param environment as of {@link System#getenv()}
   */
  CellWriter(Theme theme, Map<String, String> environment, FrameStream out) {
    this(theme, ColorMode.of(environment), environment.getOrDefault("TERM", ""), out);
  }

  CellWriter(Theme theme, ColorMode mode, String term, FrameStream out) {
    this.out = out;
    this.theme = theme;
    this.mode = mode;
    columnMoves = !term.startsWith("vt");
    erases = mode != ColorMode.NONE && erasesInColour(term);
  }

  /** Whether erased cells get the background of the pen. GNU screen and others do not do so. */
  private static boolean erasesInColour(String term) {
    return term.startsWith("xterm") || term.equals("linux") || ColorMode.isTrueTerm(term);
  }

  /**
   * Writes a picture.
   *
   * @param before the picture on the terminal, of the same size; null if unknown
   */
  void write(CellGrid grid, @Nullable CellGrid before) {
    columns = grid.columns();
    if (before == null) {
      clear();
    }
    int[] first = new int[grid.rows()];
    int top = -1;
    int bottom = -1;
    for (int y = 0; y < first.length; y++) {
      first[y] = firstToWrite(grid, before, y);
      if (first[y] < columns) {
        top = top < 0 ? y : top;
        bottom = y;
      }
    }
    if (top < 0) {
      return;
    }
    // Begins at the end whose colours the pen still has: most keys change a box and the lines below
    // the graph.
    boolean up = taken(grid, first[bottom], bottom) > taken(grid, first[top], top);
    for (int i = 0; i <= bottom - top; i++) {
      int y = up ? bottom - i : top + i;
      row(grid, before, y, first[y]);
    }
  }

  private int firstToWrite(CellGrid grid, @Nullable CellGrid before, int y) {
    int x = 0;
    while (x < columns && isShown(grid, before, x, y)) {
      x++;
    }
    return x;
  }

  /** How many colours of a cell the pen has. */
  private int taken(CellGrid grid, int x, int y) {
    Pen pen = penOf(grid, x, y);
    return (pen.background == penBackground ? 1 : 0)
        + (pen.foreground == penForeground || grid.codePoint(x, y) == ' ' ? 1 : 0);
  }

  private void clear() {
    out.write("\033[0m");
    penForeground = Theme.DEFAULT;
    penBackground = Theme.DEFAULT;
    penAttributes = 0;
    cursorY = -1;
    int ground = Paint.of(Role.GROUND);
    cleared =
        new Pen(
            Theme.DEFAULT,
            erases ? pen(Paint.of(Role.TEXT), ground, 0).background : Theme.DEFAULT,
            0);
    takeGround(cleared);
    out.write("\033[2J");
  }

  private void row(CellGrid grid, @Nullable CellGrid before, int y, int first) {
    // Up to this column nothing is erased: if a run is too short, its rest is too.
    int drawn = erases ? 0 : columns;
    for (int x = first; x < columns; x++) {
      if (grid.codePoint(x, y) == 0 || isShown(grid, before, x, y)) {
        continue;
      }
      int blanks = x < drawn ? 0 : blanks(grid, x, y);
      if (blanks > BLANKS && blanksToWrite(grid, before, x, y, blanks)) {
        moveTo(grid, x, y);
        takeGround(penOf(grid, x, y));
        if (x + blanks == columns) {
          out.write("\033[K");
        } else {
          out.write("\033[");
          out.writeNumber(blanks);
          out.write('X');
        }
        x += blanks - 1;
      } else {
        drawn = Math.max(drawn, x + blanks);
        moveTo(grid, x, y);
        put(grid, x, y);
      }
    }
  }

  /** Whether the terminal shows a cell already. */
  private boolean isShown(CellGrid grid, @Nullable CellGrid before, int x, int y) {
    if (before != null) {
      return grid.same(before, x, y);
    }
    if (grid.codePoint(x, y) != ' ') {
      return false;
    }
    Pen pen = penOf(grid, x, y);
    return pen.background == cleared.background && (pen.attributes & SEEN_BLANK) == 0;
  }

  /** How many blanks of one look stand side by side from a cell on. */
  private static int blanks(CellGrid grid, int x, int y) {
    int end = x;
    while (end < grid.columns() && grid.codePoint(end, y) == ' ' && grid.same(end, x, y)) {
      end++;
    }
    return end - x;
  }

  /** Whether so many blanks are not shown yet that erasing takes fewer bytes. */
  private boolean blanksToWrite(
      CellGrid grid, @Nullable CellGrid before, int x, int y, int blanks) {
    if ((penOf(grid, x, y).attributes & SEEN_BLANK) != 0) {
      return false;
    }
    int missing = 0;
    for (int i = x; i < x + blanks && missing <= BLANKS; i++) {
      missing += isShown(grid, before, i, y) ? 0 : 1;
    }
    return missing > BLANKS;
  }

  private void put(CellGrid grid, int x, int y) {
    int c = grid.codePoint(x, y);
    take(penOf(grid, x, y), c == ' ');
    out.writeCodePoint(c);
    cursorX += x + 1 < columns && grid.codePoint(x + 1, y) == 0 ? 2 : 1;
    if (cursorX >= columns) {
      // Terminals differ in the place of the cursor behind the last column.
      cursorY = -1;
    }
  }

  private void moveTo(CellGrid grid, int x, int y) {
    if (cursorY == y && cursorX <= x && x - cursorX <= GAP && isOnePen(grid, x, y)) {
      while (cursorX < x) {
        put(grid, cursorX, y);
      }
      return;
    }
    out.write("\033[");
    if (cursorY == y && columnMoves) {
      out.writeNumber(x + 1);
      out.write('G');
    } else {
      out.writeNumber(y + 1);
      if (x > 0) {
        out.write(';');
        out.writeNumber(x + 1);
      }
      out.write('H');
    }
    cursorX = x;
    cursorY = y;
  }

  /** Whether the cells from the cursor to a column need no other pen. */
  private boolean isOnePen(CellGrid grid, int x, int y) {
    for (int i = cursorX; i < x; i++) {
      int c = grid.codePoint(i, y);
      if (c != 0 && !isTaken(penOf(grid, i, y), c == ' ')) {
        return false;
      }
    }
    return true;
  }

  /** Whether the terminal's pen looks like a pen. */
  private boolean isTaken(Pen pen, boolean blank) {
    if (isTurned(pen)) {
      return penForeground == pen.background
          && (isPlain(pen, blank) || penBackground == pen.foreground)
          && isSeen(penAttributes & ~REVERSE, pen.attributes, blank);
    }
    return penBackground == pen.background
        && (isPlain(pen, blank) || penForeground == pen.foreground)
        && isSeen(penAttributes, pen.attributes, blank);
  }

  private static boolean isSeen(int attributes, int wanted, boolean blank) {
    return ((attributes ^ wanted) & (blank ? SEEN_BLANK : ~0)) == 0;
  }

  /** Whether a cell shows only its background. */
  private static boolean isPlain(Pen pen, boolean blank) {
    return blank && (pen.attributes & SEEN_BLANK) == 0;
  }

  /** Whether reversed colours of the terminal may serve for a pen. */
  private boolean isTurned(Pen pen) {
    return (penAttributes & REVERSE) != 0 && isTurnable(pen);
  }

  /**
   * Whether the colours of a pen can change places by reversal. Numbered colours can, on every
   * terminal.
   */
  private boolean isTurnable(Pen pen) {
    return mode == ColorMode.TRUE && isNumber(pen.foreground) && isNumber(pen.background);
  }

  private static boolean isNumber(int colour) {
    return colour < Theme.INDEXED;
  }

  /** Makes the terminal write with a pen, as far as the difference is visible. */
  private void take(Pen pen, boolean blank) {
    if (isTaken(pen, blank)) {
      return;
    }
    // An edge of a box has the colours of the box: reversing them is shorter than naming them.
    boolean plain = isPlain(pen, blank);
    int asTheyAre = matches(plain ? penForeground : pen.foreground, pen.background);
    int turned =
        isTurnable(pen) ? matches(pen.background, plain ? penBackground : pen.foreground) : 0;
    boolean turns = turned > asTheyAre || turned > 0 && turned == asTheyAre && isTurned(pen);
    if (turns) {
      change(pen.background, pen.foreground, pen.attributes | REVERSE, blank, false, plain);
    } else {
      change(pen.foreground, pen.background, pen.attributes, blank, plain, false);
    }
  }

  /** Makes the terminal erase with the background of a pen. */
  private void takeGround(Pen pen) {
    if (penBackground != pen.background || (penAttributes & SEEN_BLANK) != 0) {
      change(penForeground, pen.background, pen.attributes, true, true, false);
    }
  }

  private int matches(int foreground, int background) {
    return (foreground == penForeground ? 1 : 0) + (background == penBackground ? 1 : 0);
  }

  private void change(
      int foreground,
      int background,
      int wanted,
      boolean blank,
      boolean keepsForeground,
      boolean keepsBackground) {
    // A blank does not show bold: bold stays as it is.
    int attributes = blank ? wanted & ~BOLD | penAttributes & BOLD : wanted;
    out.write("\033[");
    int removed = penAttributes & ~attributes;
    int added = attributes & ~penAttributes;
    boolean first = true;
    if (removed != 0 && mode == ColorMode.NONE) {
      // A VT100 can only remove all attributes.
      out.write('0');
      added = attributes;
      first = false;
    } else {
      first = code(removed & BOLD, 22, first);
      first = code(removed & UNDERLINE, 24, first);
      first = code(removed & REVERSE, 27, first);
    }
    first = code(added & BOLD, 1, first);
    first = code(added & UNDERLINE, 4, first);
    first = code(added & REVERSE, 7, first);
    if (foreground != penForeground && !keepsForeground) {
      first = colour(foreground, 30, first);
      penForeground = foreground;
    }
    if (background != penBackground && !keepsBackground) {
      colour(background, 40, first);
      penBackground = background;
    }
    out.write('m');
    penAttributes = attributes;
  }

  private boolean code(int wanted, int number, boolean first) {
    if (wanted == 0) {
      return first;
    }
    if (!first) {
      out.write(';');
    }
    out.writeNumber(number);
    return false;
  }

  /**
   * @param base 30 for the foreground, 40 for the background
   */
  private boolean colour(int value, int base, boolean first) {
    if (value == Theme.DEFAULT) {
      return code(1, base + 9, first);
    }
    if ((value & Theme.INDEXED) == 0) {
      code(1, base + 8, first);
      code(1, 2, false);
      code(1, value >> 16 & 0xff, false);
      code(1, value >> 8 & 0xff, false);
      return code(1, value & 0xff, false);
    }
    int index = value & 0xff;
    if (index < 16) {
      return code(1, index < 8 ? base + index : base + 60 + index - 8, first);
    }
    code(1, base + 8, first);
    code(1, 5, false);
    return code(1, index, false);
  }

  private Pen penOf(CellGrid grid, int x, int y) {
    // A blank may have any foreground.
    int fg = grid.codePoint(x, y) == ' ' ? Paint.of(Role.TEXT) : grid.foreground(x, y);
    return pen(fg, grid.background(x, y), grid.attributes(x, y));
  }

  /** The pen for a cell with these paints. */
  Pen pen(int fg, int bg, int attributes) {
    long cell = (long) fg << 18 | (long) bg << 2 | attributes;
    int at = place(cell);
    Pen known = pens[at];
    if (known != null) {
      return known;
    }
    Pen made = make(fg, bg, attributes);
    cells[at] = cell;
    pens[at] = made;
    if (++size > pens.length / 2) {
      grow();
    }
    return made;
  }

  /** The place of a cell's pen; the free place for it if there is none. */
  private int place(long cell) {
    int at = (int) (cell * 0x9E3779B97F4A7C15L >>> 40) & pens.length - 1;
    while (pens[at] != null && cells[at] != cell) {
      at = at + 1 & pens.length - 1;
    }
    return at;
  }

  private void grow() {
    long[] oldCells = cells;
    Pen[] old = pens;
    cells = new long[old.length * 2];
    pens = new Pen[old.length * 2];
    for (int i = 0; i < old.length; i++) {
      if (old[i] != null) {
        int at = place(oldCells[i]);
        cells[at] = oldCells[i];
        pens[at] = old[i];
      }
    }
  }

  private Pen make(int fg, int bg, int attributes) {
    if (mode == ColorMode.NONE) {
      return new Pen(Theme.DEFAULT, Theme.DEFAULT, withoutColour(fg, bg, attributes));
    }
    int ink = theme.foreground(mode, fg, bg);
    int ground = theme.background(mode, bg);
    // The default as a foreground is the colour of text: the terminal's own ground is drawn by
    // reversal of both.
    return ink == Theme.DEFAULT && Paint.role(fg) == Role.GROUND
        ? new Pen(ground, Theme.DEFAULT, attributes | REVERSE)
        : new Pen(ink, ground, attributes);
  }

  /** Frames are reversed; the selected frame is not, so that it stands out. */
  private static int withoutColour(int fg, int bg, int attributes) {
    int all = attributes;
    Role under = Paint.role(bg);
    if (under == Role.SELECT) {
      all |= BOLD | UNDERLINE;
    } else if (under != Role.GROUND && under != Role.CHROME && !Paint.isFaded(bg)) {
      all |= REVERSE;
    }
    return Paint.role(fg) == Role.WORSE ? all | BOLD : all;
  }
}
