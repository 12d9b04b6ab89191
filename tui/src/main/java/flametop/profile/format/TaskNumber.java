package flametop.profile.format;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The numbers of processes and threads in texts. */
final class TaskNumber {
  private static final Pattern DIGITS = Pattern.compile("[0-9]{1,9}");

  private TaskNumber() {}

  /** The number that a text is; 0 if it is none. */
  static int of(String text) {
    return DIGITS.matcher(text).matches() ? Integer.parseInt(text) : 0;
  }

  /** The number in the first group of a pattern; 0 if the text does not have it. */
  static int in(String text, Pattern pattern) {
    Matcher found = pattern.matcher(text);
    return found.find() ? of(found.group(1)) : 0;
  }
}
