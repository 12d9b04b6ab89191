package flametop.profile.file;

import flametop.profile.format.ProfileFormat;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Tells the format of a file, as far as the first bytes tell. Some lines of such a file may look
 * like stacks, since they end in a number.
 *
 * <p>A format that is found in the first bytes is found with more bytes, too. So the pieces in
 * which a file comes do not matter.
 */
final class FormatGuess {
  /** So many first bytes tell the format. */
  static final int LOOKED_AT = 2_048;

  /** The first bytes of a recording of perf. */
  static final String PERF_DATA = "PERFILE2";

  /** The first bytes of a recording of Java Flight Recorder. */
  private static final String JFR = "FLR\0";

  private static final String LINES = "; folded stacks are lines as main;parse;read 12";

  /**
   * {@code java 4711 [002] 5123.456789: 10101010 cpu-clock:}; without a time a frame follows, for
   * other texts have such lines.
   */
  private static final Pattern SAMPLE =
      Pattern.compile(
          "(?md)^\\S[^\\n]{0,200}?\\s\\d+(?:[/-]\\d+)?\\s+(?:\\[\\d+\\]\\s+)?"
              + "(?:\\d+\\.\\d+:|(?:\\d+\\s+)?[^\\s;]+:\\s+[0-9a-f]{4,16} \\S)");

  /** {@code ffffffff81000000 do_syscall_64 ([kernel.kallsyms])}. */
  private static final Pattern FRAME = Pattern.compile("(?md)^\\s+[0-9a-f]{4,16} \\S");

  /** A line of folded stacks with more than one frame. */
  private static final Pattern STACK = Pattern.compile("(?s)[^;]+;.*\\s\\d+(?:\\.\\d+)?\\s*");

  /** A line of folded stacks. */
  private static final Pattern COUNTED = Pattern.compile("(?s)[^\"]+\\s\\d+(?:\\.\\d+)?\\s*");

  private static final Pattern JSON = Pattern.compile("\\{\\s*[\"}]|\\[\\s*[\\[{\"\\]]");

  private static final Pattern CALLGRIND =
      Pattern.compile("(?md)^# callgrind format$|^events: [^;]*\\nfn=");

  private static final Pattern MARKUP =
      Pattern.compile("<(?:\\?xml|!doctype|!--|html|svg|head|body)");

  private static final Pattern PPROF_TEXT =
      Pattern.compile(
          "PeriodType: |[a-z]+ profile: (?:total )?\\d+|--- (?:contention|mutex|heap)[: ]");

  private static final Pattern BPFTRACE =
      Pattern.compile("(?md)^@[A-Za-z0-9_]*\\[$|^@[A-Za-z0-9_]*\\[[^;\\n]*\\]: \\d+$");

  /** Text with line ends of an old Mac. */
  private static final Pattern RETURNS = Pattern.compile("(?s)[^\\r]*[0-9]\\r[^\\n\\r].*");

  /** A profile may begin with so many bytes of comments. */
  private static final int MOST_COMMENTS = 1 << 16;

  private static final Pattern COMMENTS = Pattern.compile("(?:[ \\t]*(?:#[^\\n]*)?\\n)*+");

  private FormatGuess() {}

  /**
   * Whether more bytes may tell another format than these.
   *
   * @param head the first bytes of a file that goes on
   */
  static boolean isOpen(byte[] head) {
    if (head.length == 0) {
      return true;
    }
    if (head.length >= MOST_COMMENTS) {
      return false;
    }
    String text = new String(head, StandardCharsets.ISO_8859_1);
    for (String magic : List.of(PERF_DATA, JFR)) {
      if (magic.startsWith(text)) {
        return true;
      }
    }
    if (mayBePprof(head)) {
      return head.length < LOOKED_AT;
    }
    String begin = withoutComments(text);
    int lineEnd = begin.indexOf('\n');
    String first = lineEnd < 0 ? begin : begin.substring(0, lineEnd);
    return begin.isBlank()
        || head.length < LOOKED_AT
            && (lineEnd < 0 || !COUNTED.matcher(first).matches() && !isSample(first));
  }

  /**
   * The format of a file that has a reader; null if the file may be folded stacks, or is of no such
   * format.
   *
   * @param head the first bytes, {@link #isOpen} no more or all of them
   */
  static @Nullable ProfileFormat format(byte[] head) {
    String text = new String(head, StandardCharsets.ISO_8859_1);
    if (text.startsWith(JFR)) {
      return ProfileFormat.JFR;
    }
    if (isPprof(head)) {
      return ProfileFormat.PPROF;
    }
    String begin = withoutComments(text);
    int lineEnd = begin.indexOf('\n');
    String first = lineEnd < 0 ? begin : begin.substring(0, lineEnd);
    if (STACK.matcher(first).matches() && !isSample(first)) {
      return null;
    }
    if (JSON.matcher(begin).lookingAt() && !COUNTED.matcher(first).matches()) {
      return ProfileFormat.JSON;
    }
    return isSample(first)
            || !COUNTED.matcher(first).matches()
                && SAMPLE.matcher(text).find()
                && FRAME.matcher(text).find()
        ? ProfileFormat.PERF_SCRIPT
        : null;
  }

  private static boolean isSample(String line) {
    return SAMPLE.matcher(line).lookingAt();
  }

  private static String withoutComments(String text) {
    Matcher comments = COMMENTS.matcher(text);
    return comments.lookingAt() ? text.substring(comments.end()).stripLeading() : text;
  }

  private static boolean mayBePprof(byte[] head) {
    int fields = pprofFields(head);
    return fields >= 0 && fields < 4;
  }

  /**
   * The format, and what makes folded stacks of it, for people; empty if the file may be stacks.
   *
   * @param head the first bytes, all lines whole but the last
   */
  static String named(byte[] head) {
    String text = new String(head, StandardCharsets.ISO_8859_1);
    String packed = packed(text);
    if (!packed.isEmpty()) {
      return "it is packed by " + packed + "; unpack it to a pipe: … | flametop view -";
    }
    if (text.startsWith(PERF_DATA)) {
      return "it is a recording of perf, which is read from a file that is not packed; give its"
          + " name, or what perf script makes of it: perf script | flametop view -";
    }
    if (text.startsWith("FLAMETOP")) {
      return "it is a recorded stream of flametop, which is read from a file; give its name";
    }
    if (text.startsWith("\u00FF\u00FE") || text.startsWith("\u00FE\u00FF")) {
      return "it is in UTF-16; iconv -f UTF-16 -t UTF-8 makes text of it that can be read";
    }
    String begin = text.stripLeading();
    int lineEnd = begin.indexOf('\n');
    String first = lineEnd < 0 ? begin : begin.substring(0, lineEnd);
    if (RETURNS.matcher(first).matches()) {
      return "its lines end in CR alone, as those of old Macs; tr '\\r' '\\n' makes lines of them";
    }
    return lineEnd < 0 && head.length < LOOKED_AT || STACK.matcher(first).matches()
        ? ""
        : ofLines(text, first);
  }

  private static String ofLines(String text, String first) {
    if (CALLGRIND.matcher(text).find()) {
      return "it is a profile of callgrind" + LINES;
    }
    if (MARKUP.matcher(first.toLowerCase(Locale.ROOT)).lookingAt()) {
      return "it is a page or a picture" + LINES;
    }
    if (PPROF_TEXT.matcher(first).lookingAt()) {
      return "it is a profile of pprof as text; fold it: stackcollapse-go.pl";
    }
    if (BPFTRACE.matcher(text).find()) {
      return "it is what bpftrace prints; fold it: stackcollapse-bpftrace.pl";
    }
    if (first.startsWith("Flat profile:")) {
      return "it is a profile of gprof" + LINES;
    }
    return text.indexOf('\0') >= 0 ? "it is no text" + LINES : "";
  }

  private static String packed(String text) {
    return text.startsWith("PK\3\4")
        ? "zip"
        : text.startsWith("\4\"M\30")
            ? "lz4"
            : text.startsWith("7z\u00BC\u00AF'\u001C") ? "7z" : "";
  }

  /** So many fields of a message are looked at. */
  private static final int MOST_FIELDS = 8;

  /**
   * How many first fields are those of a profile of pprof, in whatever order its writer has them,
   * up to {@link #MOST_FIELDS}; -1 if one of them cannot be, or none of them is a message.
   */
  private static int pprofFields(byte[] head) {
    int at = 0;
    int fields = 0;
    boolean messages = false;
    while (at < head.length && fields < MOST_FIELDS) {
      int key = head[at++];
      int field = key >> 3;
      boolean bytes = (key & 7) == 2;
      boolean message = field >= 1 && field <= 5 || field == 11;
      boolean known = field >= 1 && field <= 15;
      if (!known || !bytes && (key & 7) != 0 || bytes != (message || field == 6) && field != 13) {
        return -1;
      }
      long value = 0;
      int shift = 0;
      do {
        if (at == head.length) {
          return messages ? fields : 0;
        }
        if (shift > 63) {
          return -1;
        }
        value |= (head[at] & 0x7FL) << shift;
        shift += 7;
      } while (head[at++] < 0);
      if (bytes) {
        if (value < 0) {
          return -1;
        }
        if (message && value > 0 && at < head.length) {
          // The key of a first, second or third field.
          int first = head[at];
          if (first < 8 || first > 0x1A || (first & 7) != 0 && (first & 7) != 2) {
            return -1;
          }
          messages = true;
        }
        at = (int) Math.min(head.length, at + value);
      }
      fields++;
    }
    return messages ? fields : head.length < 3 ? 0 : -1;
  }

  private static boolean isPprof(byte[] head) {
    return pprofFields(head) >= 4;
  }

  /**
   * The format that a file without stacks may have, for people; empty if the format is not known.
   */
  static String guess(byte[] head) {
    String text = new String(head, StandardCharsets.ISO_8859_1);
    if (SAMPLE.matcher(text).find() || FRAME.matcher(text).find()) {
      return "it looks like what perf script writes, without the lines of its samples";
    }
    if (text.startsWith("{") || text.startsWith("[{")) {
      return "it looks like JSON" + LINES;
    }
    if (text.startsWith("<")) {
      return "it looks like a page or a picture" + LINES;
    }
    return text.indexOf('\0') >= 0 ? "it is no text" + LINES : "";
  }
}
