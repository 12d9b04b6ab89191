package flametop.profile.file;

import flametop.profile.answer.NodeKind;
import flametop.sampler.WalkEnd;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * How a name stands in folded stacks. {@code _[k]}, {@code _[j]}, {@code _[i]}, {@code _[p]},
 * {@code _[h]} and {@code _[r]} after it say that it is of the kernel, made at run time, inlined,
 * of Python, of PHP, of Ruby; a reason and {@code [idle]} stand in brackets. A name that only looks
 * like one of these, or like one with a number after it, is followed by {@code _}.
 */
public final class FoldedName {
  /** The kinds that a mark says, each with its letter in {@link #LETTERS}. */
  private static final List<NodeKind> MARKED =
      List.of(
          NodeKind.KERNEL,
          NodeKind.JIT,
          NodeKind.INLINED,
          NodeKind.PYTHON,
          NodeKind.PHP,
          NodeKind.RUBY);

  private static final String LETTERS = "kjiphr";

  private FoldedName() {}

  /**
   * A frame of a stack as it is written. Spaces of a comm become {@code _}, a {@code ;} within a
   * name {@code :}. A name that would begin a comment is written after a {@code _}.
   *
   * @param outermost whether the frame is the first of its stack
   * @param joins whether spaces of comms are joined; not those of names that were read from a file
   */
  public static String written(NodeKind kind, String name, boolean outermost, boolean joins) {
    String text = name.isEmpty() ? "-" : oneLine(name.replace(';', ':'));
    text = joins && kind.isOwner() ? text.replace(' ', '_') : text;
    return of(kind, outermost && text.startsWith("# ") ? "_" + text : text);
  }

  /** A text without line ends. */
  public static String oneLine(String text) {
    return text.replace('\n', ' ').replace('\r', ' ');
  }

  /**
   * A name with the mark of its kind.
   *
   * @param name without {@code ;} and line ends
   */
  static String of(NodeKind kind, String name) {
    int mark = MARKED.indexOf(kind);
    if (mark >= 0) {
      return name + "_[" + LETTERS.charAt(mark) + "]";
    }
    boolean says = kind == NodeKind.REASON || kind == NodeKind.IDLE;
    return !says && canMislead(name) && isMarked(name) ? name + "_" : name;
  }

  private static boolean canMislead(String name) {
    char last = name.isEmpty() ? ' ' : name.charAt(name.length() - 1);
    return last == ']' || last == '_' || last == '.' || last >= '0' && last <= '9';
  }

  private static boolean isMarked(String name) {
    byte[] text = name.getBytes(StandardCharsets.UTF_8);
    return misleads(text, 0, withoutMarks(text, 0, text.length));
  }

  /** The kind that a written name says. */
  static NodeKind kind(byte[] text, int from, int to) {
    if (to - from < 2 || text[to - 1] != ']') {
      return NodeKind.USER;
    }
    if (to - from > 4 && text[to - 4] == '_' && text[to - 3] == '[') {
      int mark = LETTERS.indexOf(text[to - 2]);
      if (mark >= 0) {
        return MARKED.get(mark);
      }
    }
    if (text[from] != '[') {
      return NodeKind.USER;
    }
    String inside = new String(text, from + 1, to - from - 2, StandardCharsets.ISO_8859_1);
    return inside.equals("idle")
        ? NodeKind.IDLE
        : isReason(inside) ? NodeKind.REASON : NodeKind.UNKNOWN;
  }

  /** Where a name ends that is written from {@code from} to {@code to}. */
  static int end(byte[] text, int from, int to) {
    if (MARKED.contains(kind(text, from, to))) {
      return to - 4;
    }
    boolean apart = to > from && text[to - 1] == '_';
    return apart && misleads(text, from, withoutMarks(text, from, to)) ? to - 1 : to;
  }

  private static int withoutMarks(byte[] text, int from, int to) {
    int end = to;
    while (end > from && text[end - 1] == '_') {
      end--;
    }
    return end;
  }

  private static boolean misleads(byte[] text, int from, int to) {
    return switch (kind(text, from, to)) {
      case USER, UNKNOWN -> endsInNumber(text, from, to);
      default -> true;
    };
  }

  private static boolean endsInNumber(byte[] text, int from, int to) {
    int at = to;
    while (at > from && (text[at - 1] >= '0' && text[at - 1] <= '9' || text[at - 1] == '.')) {
      at--;
    }
    return at < to && at > from && text[at - 1] == ' ';
  }

  private static boolean isReason(String text) {
    for (WalkEnd end : WalkEnd.values()) {
      String reason = end.reason();
      boolean known = end != WalkEnd.ROOT && end != WalkEnd.OTHER;
      if (known && (text.equals(reason) || text.startsWith(reason + ": "))) {
        return true;
      }
    }
    return switch (text) {
      case "not sampled", "irq or stolen", "naming", "older", "no stack" -> true;
      default -> text.matches("reason [0-9]+");
    };
  }
}
