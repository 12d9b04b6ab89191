package flametop.profile.file;

import flametop.profile.answer.FoldedStack;
import java.io.ByteArrayOutputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Folds lines of stacks into a tree: {@code frame;frame;frame 12}, outermost frame first; of two
 * numbers the first is the number before. Other lines are counted and left out. A file of another
 * format has no stacks at all, even where some of its lines end in a number.
 *
 * <p>The first bytes of a file decide how many numbers its lines have, in whatever pieces the bytes
 * come. Lines are folded as they come, and the tree is emptied if later lines decide otherwise.
 *
 * <p>Neighbouring lines mostly begin alike. One comparison of bytes finds the part that a line
 * shares with the line before, and only the rest of the line is read frame by frame.
 */
final class StackLines {
  private static final String UNIT = "# unit:";

  /** Whether the outermost frame is a comm; {@link #PROGRAM} did not say it in every version. */
  private static final String FIRST = "# first frame:";

  static final String TOO_DEEP = "it has more than a million frames";
  static final String TOO_LARGE_SUM = "the sum of the numbers is too large";
  private static final String PROGRAM = "# program: flametop ";

  /** The lines that begin within so many bytes decide whether there are two numbers. */
  private static final int DECIDING = 1 << 18;

  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101_0101_0101_0101L;
  private static final long HIGHS = 0x8080_8080_8080_8080L;
  private static final long NEWLINES = ONES * '\n';
  private static final long SEMICOLONS = ONES * ';';

  /** Any number of so many digits fits into a long. */
  private static final int MAX_DIGITS = 18;

  /** Most frames of a stack: ten times the deepest recursion that is known. */
  static final int MAX_FRAMES = 1 << 20;

  private final StackNames names;
  private final StackTree tree;

  /** Which numbers a line with one number has. */
  final int column;

  private final boolean alone;

  /** The first bytes of the file, which tell a file of another format. */
  private byte[] head = new byte[0];

  /** Which other format the file has; empty while the file may be stacks. */
  private String foreign = "";

  /** Whether lines may still decide how many numbers each has. */
  private boolean deciding = true;

  /** How many of the deciding bytes came. */
  private long seen;

  /** The lines that came while all lines had two numbers. */
  private final ByteArrayOutputStream doubtful = new ByteArrayOutputStream();

  private boolean twoColumns;
  private boolean saysFirst;

  // The line before: where its stack ends, and where each frame of it does.
  private byte[] previous = new byte[0];
  private int previousFrom;
  private int previousEnd;
  private int depth;
  private int[] end = new int[256];
  private int[] node = new int[256];

  private final StackTally tally = new StackTally();

  // What parse() finds.
  private int stackEnd;
  private long value;
  private int digits;
  private long second;
  private int secondDigits;

  /**
   * @param column which numbers a line with one number has: {@link StackTree#NOW} or {@link
   *     StackTree#BEFORE}
   * @param alone whether the first of two numbers is the number before; else the first is left out
   */
  StackLines(StackNames names, StackTree tree, int column, boolean alone) {
    this.names = names;
    this.tree = tree;
    this.column = column;
    this.alone = alone;
  }

  /** Takes whole lines, each with its line end. */
  void fold(byte[] text, int from, int to) {
    look(text, from, to);
    if (!foreign.isEmpty()) {
      return;
    }
    int begin = from;
    if (deciding) {
      begin = decidingEnd(text, from, to);
      decide(text, from, begin);
      seen += begin - from;
      if (seen >= DECIDING) {
        decided();
      }
    }
    take(text, begin, to);
  }

  /** Folds a stack that is no text; its value counts µs. */
  void fold(FoldedStack stack) {
    if (tally.lines() == 0) {
      tally.unit("us");
      tree.says(stack.kinds()[0].isOwner());
    }
    tally.begin();
    int leaf = 0;
    for (int i = 0; i < stack.names().length && leaf >= 0; i++) {
      String frame = FoldedName.written(stack.kinds()[i], stack.names()[i], i == 0, true);
      byte[] text = frame.getBytes(StandardCharsets.UTF_8);
      leaf = tree.growNamed(leaf, names.intern(text, 0, text.length));
    }
    tally.add(tree, leaf, stack.value(), 0, column);
  }

  /** Finds out by the first bytes whether the file has another format. */
  private void look(byte[] text, int from, int to) {
    int more = Math.min(to - from, FormatGuess.LOOKED_AT - head.length);
    if (more <= 0 || !foreign.isEmpty()) {
      return;
    }
    head = Arrays.copyOf(head, head.length + more);
    System.arraycopy(text, from, head, head.length - more, more);
    foreign = FormatGuess.named(head);
    if (!foreign.isEmpty()) {
      takeBack();
      tally.begin();
    }
  }

  /** Where the last deciding line ends. */
  private int decidingEnd(byte[] text, int from, int to) {
    long rest = DECIDING - seen;
    if (to - from <= rest) {
      return to;
    }
    return find(text, from + (int) rest - 1, to - 1, NEWLINES, '\n') + 1;
  }

  /** Finds out how many numbers each line has, and folds the lines. */
  private void decide(byte[] text, int from, int to) {
    boolean one = false;
    boolean two = false;
    for (int at = from; at < to; ) {
      int lineEnd = find(text, at, to, NEWLINES, '\n');
      twoColumns = true;
      boolean hasTwo = parse(text, at, lineEnd) == null;
      twoColumns = false;
      two |= hasTwo;
      one |= !hasTwo && parse(text, at, lineEnd) == null;
      at = lineEnd + 1;
    }
    boolean doubts = doubtful.size() > 0;
    if (one && doubts) {
      takeBack();
      byte[] before = doubtful.toByteArray();
      decided();
      take(before, 0, before.length);
    } else if (one) {
      decided();
    } else if (two || doubts) {
      twoColumns = true;
      if (!doubts && alone) {
        tree.compare();
      }
      doubtful.write(text, from, to - from);
    }
    take(text, from, to);
  }

  private void decided() {
    deciding = false;
    doubtful.reset();
  }

  /** Empties the tree and the counts, as if no line had come. */
  private void takeBack() {
    tree.reset(column);
    if (alone) {
      tree.compareNothing();
    }
    twoColumns = false;
    tally.reset();
    previous = new byte[0];
    previousFrom = 0;
    previousEnd = 0;
    depth = 0;
  }

  private void take(byte[] text, int from, int to) {
    int at = from;
    while (at < to) {
      int room = Math.min(to - at, previousEnd - previousFrom);
      int same = Arrays.mismatch(previous, previousFrom, previousFrom + room, text, at, at + room);
      int shared = same < 0 ? room : same;
      int lineEnd = find(text, at + shared, to, NEWLINES, '\n');
      line(text, at, lineEnd, shared);
      at = lineEnd + 1;
    }
    // The text is the caller's again: what the next line is compared with is kept.
    int length = previousEnd - previousFrom;
    if (previous == text) {
      previous = Arrays.copyOfRange(text, previousFrom, previousEnd);
      previousFrom = 0;
      previousEnd = length;
    }
  }

  private void line(byte[] text, int from, int to, int shared) {
    tally.begin();
    String reason = parse(text, from, to);
    if (reason != null) {
      if (!reason.isEmpty()) {
        tally.refuse(reason);
      }
      return;
    }
    if (stackEnd - from > MAX_FRAMES && isTooDeep(text, from)) {
      tally.refuse(TOO_DEEP);
      return;
    }
    if (!fits()) {
      tally.refuse(TOO_LARGE_SUM);
      return;
    }
    int known = depth;
    // A frame is the same if its end is, too: the last one's is where the number begins.
    if (known > 0 && (stackEnd - from != end[known - 1] || shared < end[known - 1])) {
      known--;
      while (known > 0 && end[known - 1] >= Math.min(shared, stackEnd - from)) {
        known--;
      }
    }
    if ((known == 0 || end[known - 1] < stackEnd - from) && !frames(text, from, known)) {
      depth = 0;
      tally.leaveOut();
      return;
    }
    int leaf = node[depth - 1];
    if (twoColumns && alone) {
      tree.add(leaf, value, digits, StackTree.BEFORE);
      tree.add(leaf, second, secondDigits, StackTree.NOW);
    } else if (twoColumns) {
      tree.add(leaf, second, secondDigits, column);
    } else {
      tree.add(leaf, value, digits, column);
    }
    tally.held(value > 0 || twoColumns && second > 0);
    previous = text;
    previousFrom = from;
    previousEnd = stackEnd;
  }

  private boolean fits() {
    if (!twoColumns) {
      return tree.fits(value, digits, column);
    }
    return (!alone || tree.fits(value, digits, StackTree.BEFORE))
        && tree.fits(second, secondDigits, column);
  }

  private boolean isTooDeep(byte[] text, int from) {
    int frames = 1;
    for (int at = from; (at = find(text, at, stackEnd, SEMICOLONS, ';')) < stackEnd; at++) {
      frames++;
    }
    return frames > MAX_FRAMES;
  }

  /**
   * Puts the frames after the {@code known} first ones into the tree.
   *
   * @return false if there is no room for all of these frames
   */
  private boolean frames(byte[] text, int from, int known) {
    int at = known == 0 ? from : from + end[known - 1] + 1;
    int parent = known == 0 ? 0 : node[known - 1];
    depth = known;
    while (true) {
      int guess = tree.recent(parent);
      int frameEnd = guess == 0 ? -1 : names.endOf(tree.function(guess), text, at, stackEnd);
      if (frameEnd >= 0) {
        parent = guess;
      } else {
        frameEnd = find(text, at, stackEnd, SEMICOLONS, ';');
        parent = tree.growNamed(parent, names.intern(text, at, frameEnd));
        if (parent < 0) {
          return false;
        }
      }
      if (depth == end.length) {
        end = Arrays.copyOf(end, 2 * depth);
        node = Arrays.copyOf(node, 2 * depth);
      }
      end[depth] = frameEnd - from;
      node[depth++] = parent;
      if (frameEnd == stackEnd) {
        return true;
      }
      at = frameEnd + 1;
    }
  }

  /** Where the next such byte stands; {@code to} if there is none before. */
  private static int find(byte[] text, int from, int to, long pattern, char wanted) {
    int at = from;
    for (; at + Long.BYTES <= to; at += Long.BYTES) {
      long word = (long) WORDS.get(text, at) ^ pattern;
      long zeros = word - ONES & ~word & HIGHS;
      if (zeros != 0) {
        return at + (Long.numberOfTrailingZeros(zeros) >> 3);
      }
    }
    while (at < to && text[at] != wanted) {
      at++;
    }
    return at;
  }

  /**
   * Finds the end of the stack and the numbers of a line.
   *
   * @return null if the line is a stack; empty if the line is a comment or empty; else why the line
   *     is no stack
   */
  private @Nullable String parse(byte[] text, int from, int to) {
    int at = skipSpace(text, from, to);
    if (at == from) {
      return "";
    }
    if (text[from] == '#' && text[from + 1] == ' ') {
      comment(text, from, at);
      return "";
    }
    int number = number(text, from, at);
    if (number < 0) {
      return number == TOO_LARGE
          ? "its number is too large"
          : number == NEGATIVE ? "its number is negative" : "no number at its end";
    }
    int stack = skipSpace(text, from, number);
    if (twoColumns) {
      second = value;
      secondDigits = digits;
      number = number(text, from, stack);
      if (number < 0) {
        return "one number at its end, others have two";
      }
      stack = skipSpace(text, from, number);
    }
    if (stack == from) {
      return "no stack before its number";
    }
    stackEnd = stack;
    return null;
  }

  private static final int NO_NUMBER = -1;
  private static final int TOO_LARGE = -2;
  private static final int NEGATIVE = -3;

  /**
   * Reads the number that ends before {@code to} into {@link #value}, of which the last {@link
   * #digits} digits stand behind the point. Finer digits are rounded.
   *
   * @return where the number begins, after a space; negative if there is no number
   */
  private int number(byte[] text, int from, int to) {
    int at = to;
    int point = -1;
    while (at > from && (text[at - 1] >= '0' && text[at - 1] <= '9' || text[at - 1] == '.')) {
      at--;
      if (text[at] == '.') {
        if (point >= 0) {
          return NO_NUMBER;
        }
        point = at;
      }
    }
    int whole = point < 0 ? to : point;
    if (at > from + 1 && at < whole && text[at - 1] == '-' && isSpace(text[at - 2])) {
      return NEGATIVE;
    }
    if (whole == at || at == from || !isSpace(text[at - 1])) {
      return NO_NUMBER;
    }
    int first = at;
    while (first < whole - 1 && text[first] == '0') {
      first++;
    }
    if (whole - first > MAX_DIGITS) {
      return TOO_LARGE;
    }
    long sum = 0;
    for (int i = first; i < whole; i++) {
      sum = 10 * sum + text[i] - '0';
    }
    int last = to;
    while (last > whole + 1 && text[last - 1] == '0') {
      last--;
    }
    int behind = Math.max(0, last - whole - 1);
    digits = Math.min(behind, Math.min(StackTree.MOST_DECIMALS, MAX_DIGITS - (whole - first)));
    for (int i = whole + 1; i <= whole + digits; i++) {
      sum = 10 * sum + text[i] - '0';
    }
    value = digits < behind && text[whole + 1 + digits] >= '5' ? sum + 1 : sum;
    return at;
  }

  private static boolean isSpace(byte of) {
    return of == ' ' || of == '\t';
  }

  private static int skipSpace(byte[] text, int from, int to) {
    int at = to;
    while (at > from && (isSpace(text[at - 1]) || text[at - 1] == '\r')) {
      at--;
    }
    return at;
  }

  /**
   * Reads a comment: {@code # unit: us} says the unit of the numbers, {@code # first frame: comm}
   * that the outermost frame is no function.
   */
  private void comment(byte[] text, int from, int to) {
    String line = new String(text, from, Math.min(to - from, 200), StandardCharsets.ISO_8859_1);
    if (line.startsWith(UNIT)) {
      String said = line.substring(UNIT.length()).trim();
      tally.unit(said.matches("[A-Za-zµ][A-Za-z0-9_.-]{0,31}") ? said : "");
    } else if (line.startsWith(FIRST)) {
      saysFirst = true;
      tree.says(line.substring(FIRST.length()).trim().equals("comm"));
    } else if (line.startsWith(PROGRAM) && !saysFirst) {
      tree.says(true);
    }
  }

  /** Counts a line that is too long to be given to {@link #fold}. */
  void tooLong() {
    tally.begin();
    tally.refuse("it is too long");
  }

  /** What was read, and what was left out. */
  StackTally tally() {
    return tally;
  }

  /** Why there are no stacks, for people: another format, or what the first line lacks. */
  String whyNone() {
    String guess = foreign.isEmpty() ? FormatGuess.guess(head) : foreign;
    return guess.isEmpty() ? tally.whyNone() : guess;
  }
}
