package flametop.profile.file;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * Tells the format of a file without folded stacks, as far as the first bytes tell. Some lines of
 * such a file may look like stacks, since they end in a number.
 *
 * <p>A format that is found in the first bytes is found with more bytes, too. So the pieces in
 * which a file comes do not matter.
 */
final class FormatGuess {
  /** So many first bytes tell the format. */
  static final int LOOKED_AT = 2_048;

  private static final String LINES = "; folded stacks are lines as main;parse;read 12";

  /** {@code java 4711 [002] 5123.456789: 10101010 cpu-clock:}. */
  private static final Pattern SAMPLE =
      Pattern.compile("(?md)^\\S[^\\n]{0,200}?\\s\\d+\\s+(?:\\[\\d+\\]\\s+)?\\d+\\.\\d+:");

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

  private FormatGuess() {}

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
    if (text.startsWith("PERFILE2")) {
      return "it is a recording of perf; fold it: perf script | stackcollapse-perf.pl";
    }
    if (text.startsWith("FLAMETOP")) {
      return "it is a recorded stream of flametop, which is read from a file; give its name";
    }
    if (text.startsWith("FLR\0")) {
      return "it is a recording of Java Flight Recorder; fold it: jfrconv --cpu FILE out.collapsed";
    }
    if (text.startsWith("\u00FF\u00FE") || text.startsWith("\u00FE\u00FF")) {
      return "it is in UTF-16; iconv -f UTF-16 -t UTF-8 makes text of it that can be read";
    }
    if (isPprof(head)) {
      return "it is a profile of pprof; fold it: go tool pprof -raw FILE | stackcollapse-go.pl";
    }
    String begin = text.stripLeading();
    int lineEnd = begin.indexOf('\n');
    String first = lineEnd < 0 ? begin : begin.substring(0, lineEnd);
    if (RETURNS.matcher(first).matches()) {
      return "its lines end in CR alone, as those of old Macs; tr '\\r' '\\n' makes lines of them";
    }
    return lineEnd < 0 && head.length < LOOKED_AT || STACK.matcher(first).matches()
        ? ""
        : ofLines(text, begin, first);
  }

  private static String ofLines(String text, String begin, String first) {
    if (JSON.matcher(begin).lookingAt() && !COUNTED.matcher(first).matches()) {
      String what =
          text.contains("speedscope.app/file-format-schema")
              ? "it is a profile of speedscope, in JSON"
              : text.contains("\"traceEvents\"")
                  ? "it is a trace of Chrome, in JSON"
                  : text.contains("\"nodes\"") && text.contains("\"callFrame\"")
                      ? "it is a .cpuprofile of V8, in JSON"
                      : "it is JSON";
      return what + LINES;
    }
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
    if (SAMPLE.matcher(first).lookingAt()
        || SAMPLE.matcher(text).find() && FRAME.matcher(text).find()) {
      return "it is what perf script writes; fold it: stackcollapse-perf.pl";
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

  /**
   * Whether it is a message of protocol buffers with the fields of a profile: it begins with the
   * type of a sample, or with samples, and what follows is as long as it says.
   */
  private static boolean isPprof(byte[] head) {
    int at = 0;
    int fields = 0;
    while (at < head.length && fields < 4) {
      int key = head[at++];
      int field = key >> 3;
      int wire = key & 7;
      boolean message = field >= 1 && field <= 6 || field == 11;
      if (field < 1 || field > 15 || wire != (message ? 2 : 0) && !(field == 13 && wire == 2)) {
        return false;
      }
      long value = 0;
      int shift = 0;
      do {
        if (at == head.length || shift > 63) {
          return false;
        }
        value |= (head[at] & 0x7FL) << shift;
        shift += 7;
      } while (head[at++] < 0);
      if (wire == 2) {
        if (fields == 0 && !isValueType(head, at, value)) {
          return false;
        }
        if (value < 0 || value > head.length - at) {
          // The rest of a field that is longer than what is looked at.
          return fields > 1;
        }
        at += (int) value;
      } else if (fields == 0) {
        return false;
      }
      fields++;
    }
    return fields >= 4;
  }

  /** Two numbers of strings. */
  private static boolean isValueType(byte[] head, int at, long length) {
    return length >= 2
        && length <= 12
        && at + 1 < head.length
        && (head[at] == 0x08 || head[at] == 0x10);
  }

  /**
   * The format that a file without stacks may have, for people; empty if the format is not known.
   */
  static String guess(byte[] head) {
    String text = new String(head, StandardCharsets.ISO_8859_1);
    if (SAMPLE.matcher(text).find() || FRAME.matcher(text).find()) {
      return "it looks like what perf script writes; fold it: stackcollapse-perf.pl";
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
