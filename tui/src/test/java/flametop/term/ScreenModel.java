package flametop.term;

import flametop.view.base.TextWidth;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** What a terminal shows after the bytes that {@link CellWriter} writes; fails on any other. */
final class ScreenModel {
  static final int BOLD = 1;
  static final int UNDERLINE = 4;
  static final int REVERSE = 7;

  final int columns;
  final int rows;
  private final boolean erasesInColour;
  private final int[] codePoints;
  private final String[] looks;
  private String foreground = "39";
  private String background = "49";
  private final boolean[] attributes = new boolean[8];
  private int x;
  private int y;

  ScreenModel(int columns, int rows, boolean erasesInColour) {
    this.columns = columns;
    this.rows = rows;
    this.erasesInColour = erasesInColour;
    codePoints = new int[columns * rows];
    looks = new String[columns * rows];
    Arrays.fill(codePoints, '?');
    Arrays.fill(looks, "");
  }

  /** Takes what is written; between two calls the cursor may have been anywhere. */
  void take(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      i += Character.charCount(c);
      if (c == '\033') {
        int end = i + 1;
        while (text.charAt(end) < '@') {
          end++;
        }
        sequence(text.substring(i + 1, end), text.charAt(end));
        i = end + 1;
      } else {
        put(c);
      }
    }
  }

  private void put(int c) {
    if (c < 0x20 || x >= columns) {
      throw new AssertionError("U+" + Integer.toHexString(c) + " at column " + x);
    }
    int width = TextWidth.of(c);
    for (int i = x; i < x + width; i++) {
      codePoints[y * columns + i] = i == x ? c : 0;
      looks[y * columns + i] = look();
    }
    x += width;
  }

  private void erase(int from, int to) {
    if (!erasesInColour && !background.equals("49")) {
      throw new AssertionError("erased in a colour");
    }
    for (int i = from; i < to; i++) {
      codePoints[i] = ' ';
      looks[i] = "49".equals(background) ? "" : background;
    }
  }

  private void sequence(String parameters, char command) {
    String[] all = parameters.split(";", -1);
    int first = all[0].matches("\\d+") ? Integer.parseInt(all[0]) : -1;
    switch (command) {
      case 'H' -> {
        y = first - 1;
        x = all.length > 1 ? Integer.parseInt(all[1]) - 1 : 0;
      }
      case 'G' -> x = first - 1;
      case 'J' -> erase(0, columns * rows);
      case 'K' -> erase(y * columns + x, (y + 1) * columns);
      case 'X' -> erase(y * columns + x, y * columns + x + first);
      case 'm' -> pen(all);
      case 'h', 'l' -> {
        if (!parameters.equals("?2026")) {
          throw new AssertionError(parameters);
        }
      }
      default -> throw new AssertionError(parameters + command);
    }
  }

  private void pen(String[] codes) {
    for (int i = 0; i < codes.length; i++) {
      int code = Integer.parseInt(codes[i]);
      if (code == 0) {
        Arrays.fill(attributes, false);
        foreground = "39";
        background = "49";
      } else if (code < 8) {
        attributes[code] = true;
      } else if (code == 22) {
        attributes[BOLD] = false;
      } else if (code < 30) {
        attributes[code - 20] = false;
      } else {
        int length = code % 10 != 8 || code > 50 ? 1 : codes[i + 1].equals("2") ? 5 : 3;
        String colour = String.join(";", Arrays.copyOfRange(codes, i, i + length));
        boolean front = code < 40 || code >= 90 && code < 100;
        foreground = front ? colour : foreground;
        background = front ? background : colour;
        i += length - 1;
      }
    }
  }

  /** Of a cell as it is written now; of a blank what can be seen. */
  private String look() {
    // Colours in numbers that change places are other colours.
    boolean turned =
        attributes[REVERSE] && foreground.startsWith("38;2") && background.startsWith("48;2");
    String all =
        turned
            ? "3" + background.substring(1) + " 4" + foreground.substring(1)
            : foreground + " " + background;
    for (int code : new int[] {BOLD, UNDERLINE, REVERSE}) {
      all += attributes[code] && !(turned && code == REVERSE) ? " " + code : "";
    }
    return all;
  }

  int codePoint(int column, int row) {
    return codePoints[row * columns + column];
  }

  /** Colours and attributes as codes of SGR; of a blank only what can be seen of them. */
  String look(int column, int row) {
    String look = looks[row * columns + column];
    if (codePoint(column, row) != ' ' || look.indexOf(' ') < 0) {
      return look;
    }
    if (look.endsWith(" 4") || look.endsWith(" 7")) {
      return look.replaceAll(" 1(?= )", "");
    }
    String ground = look.split(" ")[1];
    return ground.equals("49") ? "" : ground;
  }

  /** Row by row, a look after each character. */
  @Override
  public String toString() {
    StringBuilder text = new StringBuilder();
    for (int row = 0; row < rows; row++) {
      for (int column = 0; column < columns; column++) {
        int c = codePoint(column, row);
        text.append(c == 0 ? "" : Character.toString(c));
        text.append('{').append(look(column, row)).append('}');
      }
      text.append('\n');
    }
    return text.toString();
  }
}
