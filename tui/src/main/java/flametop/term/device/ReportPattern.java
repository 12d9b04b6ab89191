package flametop.term.device;

import com.googlecode.lanterna.input.CharacterPattern;
import com.googlecode.lanterna.input.KeyStroke;
import com.googlecode.lanterna.input.KeyType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reports of a terminal, beside keys and the mouse. */
final class ReportPattern implements CharacterPattern {
  /** The answer to a request of status. */
  static final KeyStroke STATUS = new KeyStroke(KeyType.Unknown);

  /** Begins pasted text. */
  static final KeyStroke PASTE_BEGIN = new KeyStroke(KeyType.Unknown);

  /** Ends pasted text. */
  static final KeyStroke PASTE_END = new KeyStroke(KeyType.Unknown);

  private static final String[] SEQUENCES = {"\033[0n", "\033[200~", "\033[201~"};
  private static final KeyStroke[] STROKES = {STATUS, PASTE_BEGIN, PASTE_END};

  @Override
  public @Nullable Matching match(List<Character> sequence) {
    Matching found = null;
    for (int i = 0; i < SEQUENCES.length; i++) {
      if (begins(SEQUENCES[i], sequence)) {
        found =
            SEQUENCES[i].length() == sequence.size() ? new Matching(STROKES[i]) : Matching.NOT_YET;
      }
    }
    return found;
  }

  private static boolean begins(String whole, List<Character> sequence) {
    if (sequence.size() > whole.length()) {
      return false;
    }
    for (int i = 0; i < sequence.size(); i++) {
      if (sequence.get(i) != whole.charAt(i)) {
        return false;
      }
    }
    return true;
  }
}
