package flametop.view;

/**
 * One key press.
 *
 * @param character the code point of a {@link Kind#CHARACTER}, else 0
 */
public record Key(Kind kind, int character) {
  /** Keys that the screen knows beside characters. */
  public enum Kind {
    CHARACTER,
    UP,
    DOWN,
    LEFT,
    RIGHT,
    PAGE_UP,
    PAGE_DOWN,
    HOME,
    END,
    ENTER,
    ESCAPE,
    BACKSPACE,
    TAB,
    CTRL_C,
    CTRL_L,
    CTRL_U,
    F1,
    /** Any other key; {@code character} is 0. */
    OTHER
  }

  public static Key of(Kind kind) {
    return new Key(kind, 0);
  }

  public static Key of(int character) {
    return new Key(Kind.CHARACTER, character);
  }

  /** The key as a message names it. */
  String label() {
    return switch (kind) {
      case CHARACTER -> Character.toString(character);
      case PAGE_UP -> "page up";
      case PAGE_DOWN -> "page down";
      case CTRL_C -> "ctrl-c";
      case CTRL_L -> "ctrl-l";
      case CTRL_U -> "ctrl-u";
      case OTHER -> "that key";
      default -> kind.name().toLowerCase(java.util.Locale.ROOT);
    };
  }
}
