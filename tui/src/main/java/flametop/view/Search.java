package flametop.view;

import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * The search: what was typed, and its pattern. Immutable.
 *
 * @param text as typed
 * @param typing keys still go to it
 * @param pattern null if there is nothing to look for, or the text is no regular expression
 * @param trouble why it is none; else empty
 * @param awaited 1 or -1: the selection goes to the next or previous match as soon as the answer to
 *     this pattern is there; 0: it stays
 */
public record Search(String text, boolean typing, Pattern pattern, String trouble, int awaited) {
  /** Longest text that is taken. */
  static final int MAX_LENGTH = 200;

  /** No capital letter: any case matches. */
  static Search of(String text, boolean typing) {
    if (text.isEmpty()) {
      return new Search(text, typing, null, "", 0);
    }
    boolean anyCase = text.chars().noneMatch(Character::isUpperCase);
    try {
      int flags = anyCase ? Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE : 0;
      return new Search(text, typing, Pattern.compile(text, flags), "", 0);
    } catch (PatternSyntaxException e) {
      return new Search(text, typing, null, e.getDescription(), 0);
    } catch (StackOverflowError e) {
      return new Search(text, typing, null, "Nested too deeply", 0);
    }
  }

  /** No longer typed at. */
  Search kept() {
    return new Search(text, false, pattern, trouble, awaited);
  }

  Search awaiting(int direction) {
    return new Search(text, typing, pattern, trouble, direction);
  }
}
