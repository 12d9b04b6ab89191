package flametop.view.base;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One key press.
 *
 * @param character the code point of a {@link Kind#CHARACTER}, the small letter of a {@link
 *     Kind#CTRL}, the number of a {@link Kind#FUNCTION}; else 0
 */
public record Key(Kind kind, int character) {
  /** Keys that the screen knows beside characters. */
  public enum Kind {
    CHARACTER("", ""),
    CTRL("", ""),
    FUNCTION("", ""),
    UP("up", "↑"),
    DOWN("down", "↓"),
    LEFT("left", "←"),
    RIGHT("right", "→"),
    PAGE_UP("pgup", "pgup"),
    PAGE_DOWN("pgdn", "pgdn"),
    HOME("home", "home"),
    END("end", "end"),
    ENTER("enter", "enter"),
    ESCAPE("esc", "esc"),
    BACKSPACE("backspace", "bksp"),
    DELETE("delete", "del"),
    INSERT("insert", "ins"),
    TAB("tab", "tab"),
    SHIFT_TAB("shift-tab", "⇧tab"),
    /** Any other key. */
    OTHER("", "");

    private static final Kind[] ALL = values();

    private final String label;
    private final String symbol;

    Kind(String label, String symbol) {
      this.label = label;
      this.symbol = symbol;
    }
  }

  /** The key that leaves the screen, whatever other keys do. */
  public static final Key CTRL_C = ctrl('c');

  public static Key of(Kind kind) {
    return new Key(kind, 0);
  }

  public static Key of(int character) {
    return new Key(Kind.CHARACTER, character);
  }

  /** A letter pressed with Ctrl. */
  public static Key ctrl(char letter) {
    return new Key(Kind.CTRL, letter);
  }

  /** F1, F2, … */
  public static Key function(int number) {
    return new Key(Kind.FUNCTION, number);
  }

  /**
   * Finds a key by its {@link #name}.
   *
   * @return null if no key has that name
   */
  public static @Nullable Key parse(String name) {
    if (name.codePointCount(0, name.length()) == 1) {
      return name.equals(" ") ? null : of(name.codePointAt(0));
    }
    String small = name.toLowerCase(Locale.ROOT);
    if (small.equals("space")) {
      return of(' ');
    }
    for (Kind kind : Kind.ALL) {
      if (!kind.label.isEmpty() && kind.label.equals(small)) {
        return of(kind);
      }
    }
    if (small.matches("ctrl-[a-z]")) {
      return ctrl(small.charAt(5));
    }
    return small.matches("f(0?[1-9]|1[0-2])")
        ? function(Integer.parseInt(small.substring(1)))
        : null;
  }

  /** The name of the key in messages and in the configuration. */
  public String name() {
    return switch (kind) {
      case CHARACTER -> character == ' ' ? "space" : Character.toString(character);
      case CTRL -> "ctrl-" + (char) character;
      case FUNCTION -> "f" + character;
      case OTHER -> "that key";
      default -> kind.label;
    };
  }

  /** The key in as few cells as possible. */
  public String symbol() {
    return switch (kind) {
      case CTRL -> "^" + (char) (character - 'a' + 'A');
      case FUNCTION -> "F" + character;
      case CHARACTER, OTHER -> name();
      default -> kind.symbol;
    };
  }

  /** Written by hand: the method that the JDK makes for a record costs 20 ms at its first call. */
  @Override
  public boolean equals(Object other) {
    return other instanceof Key key && key.kind == kind && key.character == character;
  }

  @Override
  public int hashCode() {
    return kind.ordinal() << 21 | character;
  }
}
