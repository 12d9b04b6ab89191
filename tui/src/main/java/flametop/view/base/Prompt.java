package flametop.view.base;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A line that the user types, with older lines and completion. Editing keys do the same wherever
 * text is typed. Immutable.
 *
 * @param text the text so far
 * @param cursor index of the place for the next character
 * @param past how many lines back the text comes from; 0 for a new line
 * @param draft the new line, while an older one stands in its place
 * @param stem what the user typed before completion; null if nothing was completed
 * @param choice which completion the text is
 * @param choices how many completions there are
 */
public record Prompt(
    String text,
    int cursor,
    int past,
    String draft,
    @Nullable String stem,
    int choice,
    int choices) {
  public static final Prompt EMPTY = of("");

  /** The longest text that a prompt takes. */
  static final int MAX_LENGTH = 200;

  /** How many lines a prompt remembers. */
  static final int MAX_PAST = 100;

  private static final Pattern SPECIAL = Pattern.compile("[\\\\.\\[\\]{}()*+?^$|]");
  private static final Pattern QUOTED = Pattern.compile("\\\\(.)", Pattern.DOTALL);

  /** A prompt with the cursor at the end of its text. */
  public static Prompt of(String text) {
    return at(text, text.length());
  }

  private static Prompt at(String text, int cursor) {
    return new Prompt(text, cursor, 0, text, null, 0, 0);
  }

  /** The same with the cursor at an index of its text. */
  public Prompt at(int index) {
    return at(text, index);
  }

  public boolean isEmpty() {
    return text.isEmpty();
  }

  /**
   * The prompt after a key: a character at the cursor, or an editing key as shells have them.
   *
   * @return this prompt if the key has nothing to do here, see {@link #refusal}; null if the key
   *     edits no text
   */
  public @Nullable Prompt edited(Key key) {
    return switch (key.kind()) {
      case CHARACTER -> typed(Character.toString(key.character()));
      case BACKSPACE -> without(before(cursor), cursor);
      case DELETE -> without(cursor, after(cursor));
      case LEFT -> moved(before(cursor));
      case RIGHT -> moved(after(cursor));
      case HOME -> moved(0);
      case END -> moved(text.length());
      case CTRL ->
          switch (key.character()) {
            case 'a' -> moved(0);
            case 'e' -> moved(text.length());
            case 'b' -> moved(before(cursor));
            case 'f' -> moved(after(cursor));
            case 'd' -> without(cursor, after(cursor));
            case 'h' -> without(before(cursor), cursor);
            case 'k' -> without(cursor, text.length());
            case 'u' -> without(0, cursor);
            case 'w' -> without(wordStart(), cursor);
            default -> null;
          };
      default -> null;
    };
  }

  /** Why a key that edits text changes nothing here. */
  public String refusal(Key key) {
    if (text.isEmpty()) {
      return "nothing is typed";
    }
    return key.kind() == Key.Kind.CHARACTER
        ? "no room: it is as long as it may be"
        : cursor == 0 ? "this is its beginning" : "this is its end";
  }

  /**
   * Inserts text at the cursor, as far as there is room; returns this prompt if there is none. Line
   * ends become blanks; other control characters are left out.
   */
  public Prompt typed(String more) {
    StringBuilder taken = new StringBuilder();
    for (int i = 0; i < more.length(); ) {
      int c = more.codePointAt(i);
      i += Character.charCount(c);
      if (text.length() + taken.length() + Character.charCount(c) > MAX_LENGTH) {
        break;
      }
      boolean blank = c == '\n' || c == '\r' || c == '\t';
      if (blank || !Character.isISOControl(c) && Character.getType(c) != Character.FORMAT) {
        taken.appendCodePoint(blank ? ' ' : c);
      }
    }
    return taken.isEmpty()
        ? this
        : at(text.substring(0, cursor) + taken + text.substring(cursor), cursor + taken.length());
  }

  private Prompt moved(int to) {
    return to == cursor ? this : at(text, to);
  }

  private Prompt without(int from, int to) {
    return from == to ? this : at(text.substring(0, from) + text.substring(to), from);
  }

  /** The index one character back, marks that join the character included. */
  private int before(int index) {
    int i = index;
    while (i > 0) {
      int c = text.codePointBefore(i);
      i -= Character.charCount(c);
      if (TextWidth.of(c) > 0) {
        break;
      }
    }
    return i;
  }

  /** The index one character on, marks that join the character included. */
  public int after(int index) {
    int i = index;
    while (i < text.length() && (i == index || TextWidth.of(text.codePointAt(i)) == 0)) {
      i += Character.charCount(text.codePointAt(i));
    }
    return i;
  }

  private int wordStart() {
    int start = cursor;
    while (start > 0 && !Character.isLetterOrDigit(text.charAt(start - 1))) {
      start--;
    }
    while (start > 0 && Character.isLetterOrDigit(text.charAt(start - 1))) {
      start--;
    }
    return start;
  }

  /**
   * An older line, or the new one again.
   *
   * @param lines the latest first
   * @param by 1 for an older one, -1 for a younger one
   * @return null if there is no such line
   */
  public @Nullable Prompt recalled(List<String> lines, int by) {
    int at = past + by;
    if (at < 0 || at > lines.size()) {
      return null;
    }
    String own = past == 0 ? text : draft;
    String line = at == 0 ? own : lines.get(at - 1);
    return new Prompt(line, line.length(), at, own, null, 0, 0);
  }

  /**
   * Completes the text to one of {@code names}, as a regular expression that matches the name:
   * names that begin with the text come before names that contain it.
   *
   * @param by 1 for the next one, -1 for the one before
   * @return null if no name fits
   */
  public @Nullable Prompt completed(List<String> names, int by) {
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
    return new Prompt(line, line.length(), 0, line, from, next, starting.size());
  }

  /** The only text that an expression without special characters matches. */
  private static String literal(String expression) {
    return QUOTED.matcher(expression).replaceAll("$1");
  }

  private static String quoted(String name) {
    return SPECIAL.matcher(name).replaceAll("\\\\$0");
  }

  /** The lines after one was used: that line becomes the latest, and occurs once. */
  public static List<String> remember(List<String> lines, String used) {
    Stream<String> others = lines.stream().filter(line -> !line.equals(used));
    return Stream.concat(Stream.of(used), others).limit(MAX_PAST).toList();
  }
}
