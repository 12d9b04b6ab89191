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
 */
public record Search(String text, boolean typing, Pattern pattern, String trouble) {
  /** Longest text that is taken. */
  static final int MAX_LENGTH = 200;

  /** No capital letter: any case matches. */
  static Search of(String text, boolean typing) {
    if (text.isEmpty()) {
      return new Search(text, typing, null, "");
    }
    boolean anyCase = text.chars().noneMatch(Character::isUpperCase);
    try {
      int flags = anyCase ? Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE : 0;
      return new Search(text, typing, Pattern.compile(text, flags), "");
    } catch (PatternSyntaxException e) {
      return new Search(text, typing, null, e.getDescription());
    } catch (StackOverflowError e) {
      return new Search(text, typing, null, "Nested too deeply");
    }
  }
}
