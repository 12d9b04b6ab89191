package flametop.view;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A line that is typed, with lines of the past and completion. Immutable.
 *
 * @param text what stands there
 * @param past how many lines back it was taken from; 0: it is new
 * @param draft what stood there before a line of the past was taken
 * @param stem what was typed before it was completed; null if it was not
 * @param choice which of the completions stands there
 * @param choices how many there are
 */
record Prompt(String text, int past, String draft, String stem, int choice, int choices) {
  /** Longest text that is taken. */
  static final int MAX_LENGTH = 200;

  /** Lines that are remembered. */
  static final int MAX_PAST = 100;

  private static final String SPECIAL = "\\.[]{}()*+?^$|";

  static Prompt of(String text) {
    return new Prompt(text, 0, text, null, 0, 0);
  }

  /** With one more character at the end; null if there is no room. */
  Prompt typed(int character) {
    return text.length() >= MAX_LENGTH ? null : of(text + Character.toString(character));
  }

  /** Without the last character; null if there is none. */
  Prompt erased() {
    return text.isEmpty()
        ? null
        : of(text.substring(0, text.offsetByCodePoints(text.length(), -1)));
  }

  /** Without the last word. */
  Prompt erasedWord() {
    int end = text.length();
    while (end > 0 && !Character.isLetterOrDigit(text.charAt(end - 1))) {
      end--;
    }
    while (end > 0 && Character.isLetterOrDigit(text.charAt(end - 1))) {
      end--;
    }
    return of(text.substring(0, end));
  }

  /**
   * A line of the past, or the new one again.
   *
   * @param lines the latest first
   * @param by 1 for an older one, -1 for a younger one
   * @return null if there is none
   */
  Prompt recalled(List<String> lines, int by) {
    int at = past + by;
    if (at < 0 || at > lines.size()) {
      return null;
    }
    String own = past == 0 ? text : draft;
    return new Prompt(at == 0 ? own : lines.get(at - 1), at, own, null, 0, 0);
  }

  /**
   * The text completed to one of {@code names}, as a regular expression that matches it: first to
   * those that begin with the text, then to those that contain it.
   *
   * @param by 1 for the next one, -1 for the one before
   * @return null if there is none
   */
  Prompt completed(List<String> names, int by) {
    String from = stem == null ? text : stem;
    boolean anchored = from.startsWith("^");
    String wanted = literal(anchored ? from.substring(1) : from);
    boolean anyCase = wanted.equals(wanted.toLowerCase(Locale.ROOT));
    List<String> starting = new ArrayList<>();
    List<String> containing = new ArrayList<>();
    for (String name : names) {
      String seen = anyCase ? name.toLowerCase(Locale.ROOT) : name;
      if (seen.startsWith(wanted)) {
        starting.add(name);
      } else if (!anchored && seen.contains(wanted)) {
        containing.add(name);
      }
    }
    starting.addAll(containing);
    starting.removeIf(name -> quoted(name).length() >= MAX_LENGTH);
    if (starting.isEmpty()) {
      return null;
    }
    int next = stem == null ? (by > 0 ? 0 : starting.size() - 1) : choice + by;
    next = Math.floorMod(next, starting.size());
    String line = (anchored ? "^" : "") + quoted(starting.get(next));
    return new Prompt(line, 0, line, from, next, starting.size());
  }

  /** What an expression without anything special in it matches. */
  private static String literal(String expression) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < expression.length(); i++) {
      char c = expression.charAt(i);
      boolean quote = c == '\\' && i + 1 < expression.length();
      text.append(quote ? expression.charAt(++i) : c);
    }
    return text.toString();
  }

  private static String quoted(String name) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < name.length(); i++) {
      char c = name.charAt(i);
      if (SPECIAL.indexOf(c) >= 0) {
        text.append('\\');
      }
      text.append(c);
    }
    return text.toString();
  }

  /** {@code lines} with one that was used: it is the latest, and nowhere else. */
  static List<String> remember(List<String> lines, String used) {
    List<String> all = new ArrayList<>();
    all.add(used);
    for (String line : lines) {
      if (!line.equals(used) && all.size() < MAX_PAST) {
        all.add(line);
      }
    }
    return List.copyOf(all);
  }
}
