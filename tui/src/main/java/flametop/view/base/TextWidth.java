package flametop.view.base;

import java.util.ArrayList;
import java.util.List;

/**
 * How many columns a character takes in a terminal. A dot replaces each character whose width
 * differs from terminal to terminal (symbols that some draw as wide emoji, code points outside of
 * the basic plane that are not plainly wide): one odd character is worth less than straight
 * columns.
 */
public final class TextWidth {
  private static final int DOT = '·';

  /** Symbols that newer terminals draw two columns wide and older ones one. */
  private static final String UNSURE =
      "⌚⌛〈〉⏩⏪⏫⏬⏰⏳◽◾☔☕♈♉♊♋♌♍♎♏♐♑♒♓♿⚓⚡⚪⚫⚽⚾⛄⛅⛎⛔⛪⛲⛳⛵⛺⛽✅✊✋✨❌❎❓❔❕❗➕➖➗➰➿⬛⬜⭐⭕";

  private TextWidth() {}

  /** 0 for a mark that joins the character before it, 2 for a wide one, else 1. */
  public static int of(int c) {
    if (c < 0x300) {
      return c < 0x20 || c >= 0x7f && c < 0xa0 || c == 0xad ? 0 : 1;
    }
    if (isWide(c)) {
      return 2;
    }
    return switch (Character.getType(c)) {
      case Character.NON_SPACING_MARK,
          Character.ENCLOSING_MARK,
          Character.FORMAT,
          Character.CONTROL,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          0;
      default -> c >= 0x1160 && c <= 0x11ff ? 0 : 1;
    };
  }

  /** The code point that stands for {@code c} on the screen. */
  public static int drawable(int c) {
    if (c < 0x300 || isWide(c)) {
      return c;
    }
    boolean unsure =
        c > 0xffff
            || Character.getType(c) == Character.UNASSIGNED
            || UNSURE.indexOf(c) >= 0
            || c >= 0x2f00 && c <= 0x2fff
            || c >= 0x3000 && c <= 0x33ff
            || c >= 0x4dc0 && c <= 0x4dff
            || c >= 0xa000 && c <= 0xa4cf
            || c >= 0xa960 && c <= 0xa97f
            || c >= 0xe000 && c <= 0xf8ff
            || c >= 0xfe10 && c <= 0xfe1f
            || c >= 0xfe50 && c <= 0xfe6f
            || c >= 0xff00;
    return unsure ? DOT : c;
  }

  private static boolean isWide(int c) {
    return c >= 0x1100 && c <= 0x115f
        || c >= 0x2e80 && c <= 0x2eff
        || c >= 0x3000 && c <= 0x303e && c != 0x3030
        || c >= 0x3041 && c <= 0x30ff
        || c >= 0x3131 && c <= 0x318e
        || c >= 0x31f0 && c <= 0x32ff
        || c >= 0x3400 && c <= 0x4dbf
        || c >= 0x4e00 && c <= 0x9fff
        || c >= 0xac00 && c <= 0xd7a3
        || c >= 0xf900 && c <= 0xfaff
        || c >= 0xfe30 && c <= 0xfe4f
        || c >= 0xff01 && c <= 0xff60
        || c >= 0x1f300 && c <= 0x1f64f
        || c >= 0x1f680 && c <= 0x1f6ff
        || c >= 0x1f900 && c <= 0x1f9ff
        || c >= 0x20000 && c <= 0x3fffd;
  }

  /** How many columns a text takes. */
  public static int of(String text) {
    return of(text, 0, text.length());
  }

  /** How many columns the part of a text between two indexes takes. */
  static int of(String text, int from, int to) {
    int columns = 0;
    for (int i = from; i < to; ) {
      int c = text.codePointAt(i);
      columns += of(c);
      i += Character.charCount(c);
    }
    return columns;
  }

  /** Whether a text takes more than {@code columns}; looks no further than needed. */
  public static boolean exceeds(String text, int columns) {
    return end(text, 0, text.length(), columns) < text.length();
  }

  /**
   * The index behind what of a text between two indexes has room in {@code columns}; looks no
   * further than needed.
   */
  static int end(String text, int from, int to, int columns) {
    int used = 0;
    for (int i = from; i < to; ) {
      int c = text.codePointAt(i);
      used += of(c);
      if (used > columns) {
        return i;
      }
      i += Character.charCount(c);
    }
    return to;
  }

  /** A text in at most {@code columns}, 1 or more: cut at its end, if that is needed. */
  static String cut(String text, int columns) {
    return exceeds(text, columns)
        ? text.substring(0, end(text, 0, text.length(), columns - 1)) + "…"
        : text;
  }

  /**
   * A text in lines of so many cells, broken at blanks where that is possible; the last of {@code
   * most} lines has the rest.
   */
  public static List<String> lines(String text, int cells, int most) {
    List<String> lines = new ArrayList<>();
    String rest = text;
    while (!rest.isEmpty() && lines.size() < most) {
      String part = rest;
      while (exceeds(part, cells) && lines.size() < most - 1) {
        int blank = part.lastIndexOf(' ');
        part = part.substring(0, blank > 0 ? blank : Math.min(cells, part.length() - 1));
      }
      lines.add(part);
      rest = rest.substring(part.length()).strip();
    }
    return lines;
  }
}
