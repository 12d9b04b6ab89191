package flametop.sampler;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.text.Normalizer;

/**
 * Makes text from outside harmless: names of processes, files and symbols are chosen by whoever
 * owns them, and end on the terminal of root.
 *
 * <p>What comes out holds printable characters that take room, and nothing else: control characters
 * (C0, DEL, C1), marks that change the direction of text, invisible and format characters,
 * combining marks that cannot be composed with their base, private, unassigned and ill-formed ones
 * each become one {@code U+FFFD}; every kind of space becomes a plain one. It is bounded, and ends
 * in {@code …} where it was cut.
 */
public final class CleanText {
  private static final char REPLACEMENT = '\uFFFD';

  private CleanText() {}

  /**
   * Cleans {@code length} bytes of UTF-8, which need not be well-formed, into at most {@code max}
   * chars, one at least.
   */
  public static String clean(byte[] bytes, int offset, int length, int max) {
    if (length <= max && isPlain(bytes, offset, length)) {
      return new String(bytes, offset, length, ISO_8859_1);
    }
    return clean(new String(bytes, offset, length, UTF_8), max);
  }

  /** Like {@link #clean(byte[], int, int, int)}, of all bytes. */
  public static String clean(byte[] bytes, int max) {
    return clean(bytes, 0, bytes.length, max);
  }

  /**
   * Cleans a command line as the kernel gives it, with a NUL after each argument: they become
   * spaces, in {@code bytes} too.
   */
  static String cleanCommandLine(byte[] bytes, int max) {
    int length = bytes.length;
    while (length > 0 && bytes[length - 1] == 0) {
      length--;
    }
    for (int i = 0; i < length; i++) {
      if (bytes[i] == 0) {
        bytes[i] = ' ';
      }
    }
    return clean(bytes, 0, length, max);
  }

  /** Cleans text into at most {@code max} chars. */
  public static String clean(String text, int max) {
    // Composed characters survive; what is then still a mark has no base of its own. A flood of
    // marks costs its square.
    boolean tooLong = text.length() > 2 * max;
    String composed =
        Normalizer.normalize(tooLong ? text.substring(0, 2 * max) : text, Normalizer.Form.NFC);
    StringBuilder out = new StringBuilder(composed.length());
    for (int i = 0; i < composed.length(); ) {
      int c = composed.codePointAt(i);
      i += Character.charCount(c);
      out.appendCodePoint(clean(c));
    }
    return tooLong || out.length() > max ? cut(out, max) : out.toString();
  }

  private static boolean isPlain(byte[] bytes, int offset, int length) {
    for (int i = offset; i < offset + length; i++) {
      if (bytes[i] < 0x20 || bytes[i] == 0x7F) {
        return false;
      }
    }
    return true;
  }

  private static int clean(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.PRIVATE_USE,
          Character.UNASSIGNED,
          Character.NON_SPACING_MARK,
          Character.ENCLOSING_MARK,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          REPLACEMENT;
      case Character.SPACE_SEPARATOR -> ' ';
      default -> isInvisibleLetter(c) ? REPLACEMENT : c;
    };
  }

  /** Hangul fillers and conjoining vowels and finals, which are letters without width. */
  private static boolean isInvisibleLetter(int c) {
    return c >= 0x115F && c <= 0x11FF || c >= 0xD7B0 && c <= 0xD7FF || c == 0x3164 || c == 0xFFA0;
  }

  private static String cut(StringBuilder text, int max) {
    int end = Math.min(text.length(), max - 1);
    if (end > 0 && Character.isHighSurrogate(text.charAt(end - 1))) {
      end--;
    }
    text.setLength(end);
    return text.append('…').toString();
  }
}
