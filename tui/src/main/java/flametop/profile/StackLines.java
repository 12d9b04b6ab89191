package flametop.profile;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Folds lines of stacks into a tree: {@code frame;frame;frame 12}, outermost first; with two
 * numbers the first is what was before. What is no such line is counted and left out.
 *
 * <p>Neighbouring lines mostly begin alike. What a line shares with the one before is found by one
 * comparison of their bytes, and only what comes after is looked at frame by frame.
 */
final class StackLines {
  private static final String UNIT = "# unit:";

  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101_0101_0101_0101L;
  private static final long HIGHS = 0x8080_8080_8080_8080L;
  private static final long NEWLINES = ONES * '\n';
  private static final long SEMICOLONS = ONES * ';';

  /** A sum of this many numbers cannot overflow before a file of an exabyte ends. */
  private static final int MAX_DIGITS = 15;

  private static final long MOST = Long.MAX_VALUE / 4;

  /** Frames of a stack that is taken: ten times those of the deepest recursion that is known. */
  private static final int MAX_FRAMES = 1 << 20;

  private final StackNames names;
  private final StackTree tree;
  private final int column;
  private final boolean alone;

  private boolean begun;
  private boolean twoColumns;

  // The line before: where its stack ends, and where each frame of it does.
  private byte[] previous = new byte[0];
  private int previousFrom;
  private int previousEnd;
  private int depth;
  private int[] end = new int[256];
  private int[] node = new int[256];

  private long lines;
  private long stacks;
  private final long[] total = new long[2];
  private long bad;
  private long firstBadLine;
  private String firstBadReason = "";
  private long unheld;
  private long firstUnheldLine;
  private String guess = "";
  private String unit = "";

  // What parse() finds.
  private int stackEnd;
  private long value;
  private long second;

  /**
   * @param column what the numbers of lines with one are: {@link StackTree#NOW} or {@link
   *     StackTree#BEFORE}
   * @param alone the first of two numbers is what was before; else it is left out
   */
  StackLines(StackNames names, StackTree tree, int column, boolean alone) {
    this.names = names;
    this.tree = tree;
    this.column = column;
    this.alone = alone;
  }

  /**
   * Takes whole lines, each with its line end. Whether there are two numbers is decided by the
   * first lines that come: by all of them.
   */
  void fold(byte[] text, int from, int to) {
    if (!begun) {
      begin(text, from, to);
    }
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
    lines++;
    String reason = parse(text, from, to);
    if (reason != null) {
      if (!reason.isEmpty()) {
        refuse(reason);
      }
      return;
    }
    if (stackEnd - from > MAX_FRAMES && isTooDeep(text, from)) {
      refuse("it has more than a million frames");
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
      if (unheld++ == 0) {
        firstUnheldLine = lines;
      }
      return;
    }
    int leaf = node[depth - 1];
    if (twoColumns && alone) {
      tree.add(leaf, value, StackTree.BEFORE);
      tree.add(leaf, second, StackTree.NOW);
      total[StackTree.BEFORE] += value;
      total[StackTree.NOW] += second;
    } else {
      long count = twoColumns ? second : value;
      tree.add(leaf, count, column);
      total[column] += count;
    }
    stacks++;
    previous = text;
    previousFrom = from;
    previousEnd = stackEnd;
  }

  private boolean isTooDeep(byte[] text, int from) {
    int frames = 1;
    for (int at = from; (at = find(text, at, stackEnd, SEMICOLONS, ';')) < stackEnd; at++) {
      frames++;
    }
    return frames > MAX_FRAMES;
  }

  /**
   * The frames after the {@code known} first ones.
   *
   * @return false if there is no room for all of them
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
        int name = names.intern(text, at, frameEnd);
        parent = name < 0 ? -1 : tree.child(parent, StackNames.function(name, depth == 0));
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

  /** Where a byte is next; {@code to} if nowhere before. */
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

  private void begin(byte[] text, int from, int to) {
    long one = 0;
    long two = 0;
    for (int at = from; at < to; ) {
      int lineEnd = find(text, at, to, NEWLINES, '\n');
      twoColumns = true;
      if (parse(text, at, lineEnd) == null) {
        two++;
      }
      twoColumns = false;
      if (parse(text, at, lineEnd) == null) {
        one++;
      }
      at = lineEnd + 1;
    }
    begun = one > 0;
    if (!begun && guess.isEmpty()) {
      guess = Foreign.guess(text, from, to);
    }
    twoColumns = begun && two == one;
    if (twoColumns && alone) {
      tree.compare();
    }
  }

  /**
   * Finds the end of the stack and the numbers.
   *
   * @return null if it is a stack; empty if it is a comment or nothing; else why it is none
   */
  private String parse(byte[] text, int from, int to) {
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
      number = number(text, from, stack);
      if (number < 0) {
        return "one number at its end, others have two";
      }
      stack = skipSpace(text, from, number);
    }
    if (stack == from) {
      return "no stack before its number";
    }
    if (Math.max(total[0], total[1]) > MOST) {
      return "the sum of the numbers is too large";
    }
    stackEnd = stack;
    return null;
  }

  private static final int NO_NUMBER = -1;
  private static final int TOO_LARGE = -2;
  private static final int NEGATIVE = -3;

  /**
   * Reads the number that ends before {@code to} into {@link #value}; parts of one are dropped, as
   * those who draw such files do.
   *
   * @return where it begins, after a space; negative if there is none
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
    value = sum;
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

  /** {@code # unit: us}: what the numbers count. */
  private void comment(byte[] text, int from, int to) {
    String line = new String(text, from, Math.min(to - from, 200), StandardCharsets.ISO_8859_1);
    if (line.startsWith(UNIT)) {
      String said = line.substring(UNIT.length()).trim();
      unit = said.matches("[A-Za-zµ]{1,16}") ? said : "";
    }
  }

  /** A line that cannot be used, which is not one that was given to {@link #fold}. */
  void refuse(String reason) {
    if (bad++ == 0) {
      firstBadLine = lines;
      firstBadReason = reason;
    }
  }

  /** A line that never came, as it is too long. */
  void tooLong() {
    lines++;
    refuse("it is too long");
  }

  long lines() {
    return lines;
  }

  long stacks() {
    return stacks;
  }

  long total(int of) {
    return total[of];
  }

  long bad() {
    return bad;
  }

  /** {@code line 17: no number at its end}. */
  String firstBad() {
    return "line " + firstBadLine + ": " + firstBadReason;
  }

  /** Why there are no stacks, for people: what it is instead, or what the first line lacks. */
  String whyNone() {
    return !guess.isEmpty() ? guess : bad > 0 ? firstBad() : "nothing but comments";
  }

  /** Stacks that there was no room for. */
  long unheld() {
    return unheld;
  }

  long firstUnheld() {
    return firstUnheldLine;
  }

  /** As a comment says it; else empty. */
  String unit() {
    return unit;
  }
}
