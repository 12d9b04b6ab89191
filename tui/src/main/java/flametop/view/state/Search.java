package flametop.view.state;

import flametop.view.base.Prompt;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * The search: what was typed, and its pattern. Immutable.
 *
 * @param prompt what was typed
 * @param typing whether keys still go to the text
 * @param pattern null if the text is empty or no regular expression
 * @param trouble why the text is no regular expression; empty if it is one
 * @param awaited 1 or -1: the selection goes to the next or previous match as soon as the answer to
 *     this pattern is there; 0: it stays
 */
public record Search(
    Prompt prompt, boolean typing, @Nullable Pattern pattern, String trouble, int awaited) {
  public static Search of(String text, boolean typing) {
    return of(Prompt.of(text), typing);
  }

  /** A search for a text. Without a capital letter, any case matches. */
  public static Search of(Prompt prompt, boolean typing) {
    String text = prompt.text();
    if (text.isEmpty()) {
      return new Search(prompt, typing, null, "", 0);
    }
    boolean anyCase = text.chars().noneMatch(Character::isUpperCase);
    try {
      int flags = anyCase ? Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE : 0;
      return new Search(prompt, typing, Pattern.compile(text, flags), "", 0);
    } catch (PatternSyntaxException e) {
      return new Search(prompt, typing, null, e.getDescription(), 0);
    } catch (StackOverflowError e) {
      return new Search(prompt, typing, null, "Nested too deeply", 0);
    }
  }

  /** The pattern of a search; null without a search. */
  public static @Nullable Pattern patternOf(@Nullable Search search) {
    return search == null ? null : search.pattern;
  }

  /** The text as typed. */
  public String text() {
    return prompt.text();
  }

  /** The same search after the user finished typing. */
  public Search kept() {
    return new Search(prompt, false, pattern, trouble, awaited);
  }

  public Search awaiting(int direction) {
    return new Search(prompt, typing, pattern, trouble, direction);
  }
}
