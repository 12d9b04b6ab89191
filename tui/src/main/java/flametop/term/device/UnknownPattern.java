package flametop.term.device;

import com.googlecode.lanterna.input.CharacterPattern;
import com.googlecode.lanterna.input.KeyStroke;
import com.googlecode.lanterna.input.KeyType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A whole control sequence, {@code ESC [}, parameters and a final byte, that no other pattern
 * knows: an answer to another program, or a key in a newer encoding. Its bytes are no keys.
 */
final class UnknownPattern implements CharacterPattern {
  static final KeyStroke STROKE = new KeyStroke(KeyType.Unknown);

  @Override
  public @Nullable Matching match(List<Character> sequence) {
    int length = sequence.size();
    for (int i = 0; i < length; i++) {
      char c = sequence.get(i);
      if (i < 2) {
        if (c != (i == 0 ? '\033' : '[')) {
          return null;
        }
      } else if (c >= '@' && c <= '~') {
        return i == length - 1 ? new Matching(STROKE) : null;
      } else if (c < ' ' || c > '~') {
        return null;
      }
    }
    return Matching.NOT_YET;
  }
}
