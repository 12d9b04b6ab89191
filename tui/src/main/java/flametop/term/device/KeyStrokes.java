package flametop.term.device;

import com.googlecode.lanterna.input.KeyStroke;
import com.googlecode.lanterna.input.KeyType;
import flametop.view.base.Key;
import java.util.List;

/** Turns key strokes of Lanterna into keys of the view. */
final class KeyStrokes {
  private KeyStrokes() {}

  /**
   * The keys of a stroke, in order. No action has a key with Alt: terminals send Escape and the key
   * for it, the same bytes as for both keys in quick succession.
   */
  static List<Key> toKeys(KeyStroke stroke) {
    return stroke.isAltDown()
        ? List.of(Key.of(Key.Kind.ESCAPE), toKey(stroke))
        : List.of(toKey(stroke));
  }

  private static Key toKey(KeyStroke stroke) {
    return switch (stroke.getKeyType()) {
      case Character -> character(stroke);
      case ArrowUp -> Key.of(Key.Kind.UP);
      case ArrowDown -> Key.of(Key.Kind.DOWN);
      case ArrowLeft -> Key.of(Key.Kind.LEFT);
      case ArrowRight -> Key.of(Key.Kind.RIGHT);
      case PageUp -> Key.of(Key.Kind.PAGE_UP);
      case PageDown -> Key.of(Key.Kind.PAGE_DOWN);
      case Home -> Key.of(Key.Kind.HOME);
      case End -> Key.of(Key.Kind.END);
      case Enter -> Key.of(Key.Kind.ENTER);
      case Escape -> Key.of(Key.Kind.ESCAPE);
      case Backspace -> Key.of(Key.Kind.BACKSPACE);
      case Tab -> Key.of(Key.Kind.TAB);
      case ReverseTab -> Key.of(Key.Kind.SHIFT_TAB);
      case Delete -> Key.of(Key.Kind.DELETE);
      case Insert -> Key.of(Key.Kind.INSERT);
      case F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12 ->
          Key.function(stroke.getKeyType().ordinal() - KeyType.F1.ordinal() + 1);
      default -> Key.of(Key.Kind.OTHER);
    };
  }

  private static Key character(KeyStroke stroke) {
    char c = stroke.getCharacter();
    if (Character.isSurrogate(c)
        || Character.getType(c) == Character.FORMAT
        || Character.isISOControl(c)) {
      return Key.of(Key.Kind.OTHER);
    }
    if (!stroke.isCtrlDown()) {
      return Key.of((int) c);
    }
    return c >= 'a' && c <= 'z' ? Key.ctrl(c) : Key.of(Key.Kind.OTHER);
  }

  /** Appends the character of a pasted stroke. */
  static void append(KeyStroke stroke, StringBuilder text) {
    switch (stroke.getKeyType()) {
      case Character -> {
        // Control characters are no text, except line ends.
        boolean end = stroke.isCtrlDown() && stroke.getCharacter() == 'j';
        if (end || !stroke.isCtrlDown()) {
          text.append(end ? '\n' : stroke.getCharacter());
        }
      }
      case Enter -> text.append('\n');
      case Tab -> text.append('\t');
      default -> {}
    }
  }

  static boolean isSuspend(KeyStroke stroke) {
    return stroke.getCharacter() != null
        && stroke.isCtrlDown()
        && !stroke.isAltDown()
        && stroke.getCharacter() == 'z';
  }
}
