package flametop.term;

import com.googlecode.lanterna.SGR;
import com.googlecode.lanterna.TextCharacter;
import com.googlecode.lanterna.TextColor;
import flametop.view.CellGrid;
import flametop.view.Paint;
import flametop.view.Role;
import java.util.Arrays;
import java.util.EnumSet;

/**
 * Lanterna's characters for painted cells, each made once: one costs 115 ns and an object, and a
 * picture has 12,000.
 */
final class Cells {
  private static final int INITIAL = 1 << 12;

  /** More than a session ever sees of shades and letters; beyond, all are made anew. */
  private static final int MAX = 1 << 16;

  private final Theme theme;
  private final ColorMode mode;

  // Open addressing by (code point, foreground, background, attributes); a free place has no
  // character.
  private long[] keys = new long[INITIAL];
  private TextCharacter[] characters = new TextCharacter[INITIAL];
  private int size;

  Cells(Theme theme, ColorMode mode) {
    this.theme = theme;
    this.mode = mode;
  }

  /**
   * The character of a cell; not to be asked for the right half of a wide one, which Lanterna fills
   * itself.
   */
  TextCharacter of(CellGrid grid, int x, int y) {
    int c = grid.codePoint(x, y);
    int fg = grid.foreground(x, y);
    int bg = grid.background(x, y);
    int attributes = grid.attributes(x, y);
    long key = (long) c << 34 | (long) fg << 18 | (long) bg << 2 | attributes;
    int mask = keys.length - 1;
    int at = (int) (key * 0x9E3779B97F4A7C15L >>> 40) & mask;
    while (characters[at] != null) {
      if (keys[at] == key) {
        return characters[at];
      }
      at = at + 1 & mask;
    }
    TextCharacter made = make(c, fg, bg, attributes);
    keys[at] = key;
    characters[at] = made;
    if (++size > keys.length / 2) {
      grow();
    }
    return made;
  }

  private void grow() {
    if (size >= MAX) {
      Arrays.fill(characters, null);
      size = 0;
      return;
    }
    long[] oldKeys = keys;
    TextCharacter[] old = characters;
    keys = new long[old.length * 2];
    characters = new TextCharacter[old.length * 2];
    int mask = keys.length - 1;
    for (int i = 0; i < old.length; i++) {
      if (old[i] != null) {
        int at = (int) (oldKeys[i] * 0x9E3779B97F4A7C15L >>> 40) & mask;
        while (characters[at] != null) {
          at = at + 1 & mask;
        }
        keys[at] = oldKeys[i];
        characters[at] = old[i];
      }
    }
  }

  private TextCharacter make(int c, int fg, int bg, int attributes) {
    EnumSet<SGR> styles = EnumSet.noneOf(SGR.class);
    if ((attributes & CellGrid.BOLD) != 0) {
      styles.add(SGR.BOLD);
    }
    if ((attributes & CellGrid.UNDERLINE) != 0) {
      styles.add(SGR.UNDERLINE);
    }
    TextColor foreground = TextColor.ANSI.DEFAULT;
    TextColor background = TextColor.ANSI.DEFAULT;
    if (mode == ColorMode.NONE) {
      withoutColour(fg, bg, styles);
    } else {
      int ink = theme.foreground(mode, fg, bg);
      int ground = theme.background(mode, bg);
      // As a foreground the default is text: the terminal's own ground is drawn by turning both.
      boolean turned = ink == Theme.DEFAULT && Paint.role(fg) == Role.GROUND;
      foreground = colour(turned ? ground : ink);
      background = colour(turned ? Theme.DEFAULT : ground);
      if (turned) {
        styles.add(SGR.REVERSE);
      }
    }
    return TextCharacter.fromString(Character.toString(c), foreground, background, styles)[0];
  }

  /** A frame is reverse; the selected one is not, so that it stands out. */
  private static void withoutColour(int fg, int bg, EnumSet<SGR> styles) {
    Role under = Paint.role(bg);
    if (under == Role.SELECT) {
      styles.add(SGR.BOLD);
      styles.add(SGR.UNDERLINE);
    } else if (under != Role.GROUND && under != Role.CHROME && !Paint.isFaded(bg)) {
      styles.add(SGR.REVERSE);
    }
    if (Paint.role(fg) == Role.WORSE) {
      styles.add(SGR.BOLD);
    }
  }

  private static TextColor colour(int value) {
    if (value == Theme.DEFAULT) {
      return TextColor.ANSI.DEFAULT;
    }
    if ((value & Theme.INDEXED) != 0) {
      int number = value & 0xff;
      return number < ANSI.length ? ANSI[number] : new TextColor.Indexed(number);
    }
    return new TextColor.RGB(value >> 16 & 0xff, value >> 8 & 0xff, value & 0xff);
  }

  private static final TextColor[] ANSI = {
    TextColor.ANSI.BLACK,
    TextColor.ANSI.RED,
    TextColor.ANSI.GREEN,
    TextColor.ANSI.YELLOW,
    TextColor.ANSI.BLUE,
    TextColor.ANSI.MAGENTA,
    TextColor.ANSI.CYAN,
    TextColor.ANSI.WHITE,
    TextColor.ANSI.BLACK_BRIGHT,
    TextColor.ANSI.RED_BRIGHT,
    TextColor.ANSI.GREEN_BRIGHT,
    TextColor.ANSI.YELLOW_BRIGHT,
    TextColor.ANSI.BLUE_BRIGHT,
    TextColor.ANSI.MAGENTA_BRIGHT,
    TextColor.ANSI.CYAN_BRIGHT,
    TextColor.ANSI.WHITE_BRIGHT
  };
}
