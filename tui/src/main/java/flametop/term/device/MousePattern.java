package flametop.term.device;

import com.googlecode.lanterna.TerminalPosition;
import com.googlecode.lanterna.input.CharacterPattern;
import com.googlecode.lanterna.input.MouseAction;
import com.googlecode.lanterna.input.MouseActionType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The report of the mouse in mode 1006, for any column: {@code ESC [ < BUTTON ; COLUMN ; ROW M}, or
 * {@code m} for a released button. Lanterna's own pattern knows only an older mode, which ends at
 * column 223.
 */
final class MousePattern implements CharacterPattern {
  private static final String START = "\033[<";

  /** Longest sequence: three numbers of five digits. */
  private static final int LONGEST = START.length() + 3 * 5 + 3;

  private static final int MOTION = 32;
  private static final int WHEEL = 64;

  /** Sideways wheels, and buttons beyond the wheel. */
  private static final int OTHERS = 128;

  private static final int MODIFIERS = 4 | 8 | 16;

  @Override
  public @Nullable Matching match(List<Character> sequence) {
    int length = sequence.size();
    for (int i = 0; i < Math.min(length, START.length()); i++) {
      if (sequence.get(i) != START.charAt(i)) {
        return null;
      }
    }
    if (length > LONGEST) {
      return null;
    }
    int[] numbers = new int[3];
    int n = 0;
    for (int i = START.length(); i < length; i++) {
      char c = sequence.get(i);
      if (c >= '0' && c <= '9') {
        numbers[n] = Math.min(100_000, numbers[n] * 10 + c - '0');
      } else if (c == ';' && n < 2) {
        n++;
      } else {
        return (c == 'M' || c == 'm') && n == 2 && i == length - 1
            ? new Matching(action(numbers, c == 'm'))
            : null;
      }
    }
    return Matching.NOT_YET;
  }

  private static MouseAction action(int[] numbers, boolean release) {
    int button = numbers[0] & ~MODIFIERS;
    MouseActionType type =
        button >= OTHERS
            ? MouseActionType.MOVE
            : button >= WHEEL
                ? button == WHEEL
                    ? MouseActionType.SCROLL_UP
                    : button == WHEEL + 1 ? MouseActionType.SCROLL_DOWN : MouseActionType.MOVE
                : release
                    ? MouseActionType.CLICK_RELEASE
                    : (button & MOTION) != 0 ? MouseActionType.DRAG : MouseActionType.CLICK_DOWN;
    return new MouseAction(
        type,
        (button & ~MOTION) + 1,
        new TerminalPosition(Math.max(0, numbers[1] - 1), Math.max(0, numbers[2] - 1)));
  }
}
