package flametop.profile;

import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** What a file is that has no folded stacks, as far as its beginning tells. */
final class Foreign {
  private static final int LOOKED_AT = 2_048;

  /** {@code java 4711 [002] 5123.456789: 10101010 cpu-clock:}. */
  private static final Pattern SAMPLE =
      Pattern.compile("(?m)^\\S[^\\n]{0,200}?\\s\\d+\\s+(?:\\[\\d+\\]\\s+)?\\d+\\.\\d+:");

  /** {@code ffffffff81000000 do_syscall_64 ([kernel.kallsyms])}. */
  private static final Pattern FRAME = Pattern.compile("(?m)^\\s+[0-9a-f]{4,16} \\S");

  private Foreign() {}

  /** What it is and what makes folded stacks of it, for people; empty if that is not known. */
  static String guess(byte[] text, int from, int to) {
    String head =
        new String(text, from, Math.min(LOOKED_AT, to - from), StandardCharsets.ISO_8859_1);
    if (head.startsWith("PERFILE2")) {
      return "it is a recording of perf; fold it: perf script | stackcollapse-perf.pl";
    }
    if (head.startsWith("\u00FF\u00FE") || head.startsWith("\u00FE\u00FF")) {
      return "it is in UTF-16; iconv -f UTF-16 -t UTF-8 makes text of it that can be read";
    }
    if (SAMPLE.matcher(head).find() || FRAME.matcher(head).find()) {
      return "it looks like what perf script writes; fold it: stackcollapse-perf.pl";
    }
    if (head.startsWith("{") || head.startsWith("[{")) {
      return "it looks like JSON; folded stacks are lines as main;parse;read 12";
    }
    if (head.startsWith("<")) {
      return "it looks like a page or a picture; folded stacks are lines as main;parse;read 12";
    }
    return head.indexOf('\0') >= 0
        ? "it is no text; folded stacks are lines as main;parse;read 12"
        : "";
  }
}
