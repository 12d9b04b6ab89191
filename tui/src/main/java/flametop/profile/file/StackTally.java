package flametop.profile.file;

import java.util.ArrayList;
import java.util.List;

/** What was read of an input, and what was left out of it. */
final class StackTally {
  /** Most notes that are kept of an input. */
  private static final int MOST_NOTES = 20;

  private long lines;
  private long stacks;
  private boolean counts;
  private long bad;
  private long firstBadLine;
  private String firstBadReason = "";
  private long unheld;
  private long firstUnheldLine;
  private String unit = "";
  private final List<String> notes = new ArrayList<>();

  private List<String> measures = List.of();
  private int measure;

  /** Whether each stack is a line, and can be named by the number of that. */
  private boolean lined = true;

  /** Counts a line, or a stack that is no line. */
  void begin() {
    lines++;
  }

  /**
   * Adds a number to the stacks that end in a node, and counts the stack.
   *
   * @param node -1 if there is no room for it
   * @param digits of the number that stand behind the point
   */
  void add(StackTree to, int node, long value, int digits, int column) {
    if (node < 0) {
      leaveOut();
    } else if (to.fits(value, digits, column)) {
      to.add(node, value, digits, column);
      held(value > 0);
    } else {
      refuse(StackLines.TOO_LARGE_SUM);
    }
  }

  /** Counts a stack that is in the tree. */
  void held(boolean isMoreThanZero) {
    stacks++;
    counts |= isMoreThanZero;
  }

  /** Counts a line or a stack that cannot be used. */
  void refuse(String reason) {
    if (bad++ == 0) {
      firstBadLine = lines;
      firstBadReason = reason;
    }
  }

  /** Counts a stack that there is no room for. */
  void leaveOut() {
    if (unheld++ == 0) {
      firstUnheldLine = lines;
    }
  }

  /** As if nothing had come; the unit stays. */
  void reset() {
    lines = 0;
    stacks = 0;
    counts = false;
    bad = 0;
    unheld = 0;
  }

  /** Keeps a line for people, once. */
  void note(String text) {
    if (notes.size() < MOST_NOTES && !notes.contains(text)) {
      notes.add(text);
    }
  }

  void unit(String name) {
    unit = name;
  }

  /** The stacks are of a profile, and no lines. */
  void countsStacks() {
    lined = false;
  }

  void measures(List<String> names, int chosen) {
    measures = names;
    measure = chosen;
  }

  /** The measures of the profile; empty in folded stacks. */
  List<String> measures() {
    return measures;
  }

  /** Which of {@link #measures} is chosen. */
  int measure() {
    return measure;
  }

  /** The measures of the profile, the chosen one first. */
  List<String> chosenFirst() {
    List<String> all = new ArrayList<>(measures);
    if (!all.isEmpty()) {
      all.add(0, all.remove(measure));
    }
    return all;
  }

  long lines() {
    return lines;
  }

  long stacks() {
    return stacks;
  }

  /** Whether any number is more than 0. */
  boolean counts() {
    return counts;
  }

  long bad() {
    return bad;
  }

  /** {@code line 17: no number at its end}. */
  private String firstBad() {
    return lined ? "line " + firstBadLine + ": " + firstBadReason : firstBadReason;
  }

  /** The unit of the numbers, as the input says; empty if it does not. */
  String unit() {
    return unit;
  }

  /**
   * Lines for people about what was left out.
   *
   * @param before of each line
   */
  void complain(String before, List<String> into) {
    if (bad > 0) {
      String first = lined ? ", first " : bad == 1 ? ": " : ", the first: ";
      String what = lined ? are(bad, "line") + " no stack and" : are(bad, "stack");
      into.add(before + what + " left out" + first + firstBad());
    }
    if (unheld > 0) {
      into.add(
          before
              + are(unheld, "stack")
              + " left out"
              + (lined ? ", first line " + firstUnheldLine : "")
              + ": there is no memory for more frames; a part of the file needs less");
    }
  }

  /** {@code 1 line is}, {@code 2 lines are}. */
  static String are(long count, String thing) {
    return count == 1 ? "1 " + thing + " is" : count + " " + thing + "s are";
  }

  /**
   * Lines for people about the profile.
   *
   * @param lists whether a key lists the measures
   */
  void tell(String before, boolean lists, List<String> into) {
    for (String note : notes) {
      into.add(before + note);
    }
    if (measures.size() > 1) {
      List<String> all = chosenFirst();
      into.add(
          before
              + "shown: "
              + all.get(0)
              + (lists ? "; v" : "; --sample-type")
              + " shows another: "
              + String.join(", ", all.subList(1, all.size())));
    }
  }

  /** What an input without lines is, for people. */
  String emptiness() {
    return lined ? " is empty" : " has no stacks: a profile without samples";
  }

  /** Why there are no stacks, for people. */
  String whyNone() {
    return bad > 0 ? firstBad() : "nothing but comments";
  }
}
