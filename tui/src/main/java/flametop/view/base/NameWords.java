package flametop.view.base;

import java.util.Set;

/**
 * The words of a name, from which its short form is made.
 *
 * <p>One scan copies the name without arguments in brackets, and keeps where its words begin.
 * Brackets at the beginning of a word are a word themselves: {@code (*Log)}, {@code <T as Trait>},
 * {@code {{closure}}}; the same scan takes the part of them that names the thing. Then words are
 * left out from the left as long as the rest does not fit. A last word that says nothing by itself
 * ({@code func1}, {@code {{closure}}}, {@code operator()}, {@code <init>}) stays with the word
 * before.
 */
final class NameWords {
  /** Texts that may follow the arguments of a C++ function. */
  private static final String[] QUALIFIERS = {" const", " volatile", " &", " noexcept", " ["};

  /** Arguments of a Rust function that begin with a small letter. */
  private static final Set<String> PRIMITIVES =
      Set.of(
          "bool", "char", "str", "true", "false", "u8", "u16", "u32", "u64", "u128", "usize", "i8",
          "i16", "i32", "i64", "i128", "isize", "f32", "f64");

  private static final String ANONYMOUS = "(anonymous namespace)";
  private static final String OPERATOR = "operator";
  private static final String OPERATOR_SIGNS = "<>=!+-*/%^&|~,";

  /** How many brackets within each other the scan reads at the beginning of a word. */
  private static final int MAX_DEPTH = 4;

  /** How many words can stay, counted from the last. Words before these are left out first. */
  private static final int MAX_WORDS = 64;

  private final String name;
  private final int end;
  private final int depth;
  private int at;

  /** Where the bare name begins and ends: without return type, arguments, qualifiers. */
  private int nameStart;

  private int nameEnd;

  private final StringBuilder words = new StringBuilder(64);
  private final int[] starts = new int[MAX_WORDS];
  private int count;
  private boolean colon;

  private NameWords(String name, int from, int end, int depth) {
    this.name = name;
    this.end = end;
    this.depth = depth;
    at = from;
    nameStart = from;
    nameEnd = end;
  }

  /** The words of a name between two places in its text. */
  static NameWords of(String name, int from, int end) {
    return of(name, from, end, 0);
  }

  private static NameWords of(String name, int from, int end, int depth) {
    NameWords words = new NameWords(name, from, end, depth);
    words.scan();
    return words;
  }

  /** The longest form of at most so many columns; the shortest form if all are longer. */
  String best(int room) {
    int last = tail();
    if (last < 0) {
      return name.substring(0, end);
    }
    if (nameEnd > nameStart && ShortName.fits(name, nameStart, nameEnd, room)) {
      return name.substring(nameStart, nameEnd);
    }
    int columns = 0;
    int from = words.length();
    int chosen = last;
    for (int word = count - 1; word >= 0; word--) {
      columns += TextWidth.of(words.substring(starts[word], from));
      from = starts[word];
      if (columns > room) {
        break;
      }
      chosen = Math.min(last, word);
    }
    return words.substring(starts[chosen]);
  }

  /** The first word of the shortest form that means something; -1 if the name has no words. */
  private int tail() {
    if (count > 0 && starts[count - 1] == words.length()) {
      count--;
    }
    while (words.length() > 0 && isSeparator(words.charAt(words.length() - 1)) && count > 0) {
      words.setLength(words.length() - 1);
      if (starts[count - 1] >= words.length()) {
        count--;
      }
    }
    int word = count - 1;
    int to = words.length();
    while (word > 0 && isVague(starts[word], to)) {
      to = starts[word];
      word--;
    }
    return word;
  }

  private static boolean isSeparator(char c) {
    return c == ':' || c == '.' || c == '/';
  }

  /** Whether a word means nothing without the word before. */
  private boolean isVague(int from, int end) {
    int to = end;
    while (to > from && isSeparator(words.charAt(to - 1))) {
      to--;
    }
    char first = words.charAt(from);
    if (first == '{' || first == '<' || words.indexOf(OPERATOR, from) == from) {
      return true;
    }
    int digits = words.indexOf("func", from) == from ? from + 4 : from;
    for (int i = digits; i < to; i++) {
      if (!ShortName.isDigit(words.charAt(i))) {
        return false;
      }
    }
    return digits < to;
  }

  private void scan() {
    anew();
    while (at < end) {
      char c = name.charAt(at);
      boolean fresh = isFresh();
      if (isOperator() && (OPERATOR_SIGNS.indexOf(c) >= 0 || c == '(' || c == '[' || c == ' ')) {
        operator(c);
        continue;
      }
      switch (c) {
        case '<' -> {
          if (fresh) {
            angle();
          } else {
            at = close('<', '>');
          }
        }
        case '(' -> {
          if (fresh) {
            parentheses();
          } else if (!arguments()) {
            return;
          }
        }
        case '[' -> {
          if (fresh) {
            copyGroup('[', ']');
          } else {
            at = close('[', ']');
          }
        }
        case '{' -> copyGroup('{', '}');
        case ':' -> {
          boolean two = name.startsWith("::", at);
          if (!two && name.startsWith(":/", at)) {
            nameEnd = at;
            return;
          }
          colon |= !two;
          separator(two ? "::" : ":");
        }
        case '.' -> separator(".");
        case '/' -> {
          if (name.startsWith("/0x", at)) {
            // The address of a hidden class.
            at += 3;
            while (at < end && Character.digit(name.charAt(at), 16) >= 0) {
              at++;
            }
          } else {
            separator("/");
          }
        }
        case ' ' -> {
          if (!space()) {
            return;
          }
        }
        default -> {
          words.append(c);
          at++;
        }
      }
    }
  }

  /** Drops all words so far: they were no part of the name. */
  private void anew() {
    words.setLength(0);
    count = 1;
    starts[0] = 0;
    nameStart = at;
    nameEnd = end;
  }

  private boolean isFresh() {
    return words.length() == starts[count - 1];
  }

  private boolean isOperator() {
    int from = starts[count - 1];
    return words.length() - from == OPERATOR.length() && words.indexOf(OPERATOR, from) == from;
  }

  private boolean isOperatorWord() {
    return words.indexOf(OPERATOR, starts[count - 1]) == starts[count - 1];
  }

  private void separator(String text) {
    at += text.length();
    // A word of which nothing was kept needs no separator.
    if (isFresh()) {
      return;
    }
    words.append(text);
    if (count == MAX_WORDS) {
      System.arraycopy(starts, 1, starts, 0, MAX_WORDS - 1);
      count--;
    }
    starts[count++] = words.length();
  }

  private void operator(char c) {
    if (name.startsWith("()", at) || name.startsWith("[]", at)) {
      words.append(name, at, at + 2);
      at += 2;
    } else if (c == '(' || c == '[') {
      words.append(c);
      at++;
    } else if (c == ' ') {
      // operator new, operator std::string
      while (at < end && name.charAt(at) != '(' && name.charAt(at) != '<') {
        words.append(name.charAt(at++));
      }
    } else {
      while (at < end && OPERATOR_SIGNS.indexOf(name.charAt(at)) >= 0) {
        words.append(name.charAt(at++));
      }
    }
  }

  /** Reads a blank. Returns whether the name goes on behind the blank. */
  private boolean space() {
    int next = at + 1;
    if (next < end && name.charAt(next) == '<' && isOperatorWord()) {
      at = next; // operator<< <char>
      return true;
    }
    boolean over =
        isQualifier(at)
            || colon
            || next >= end
            || name.charAt(next) == '/'
            || name.charAt(next) == '(' && !name.startsWith("(*", next)
            || name.startsWith("file:", next);
    if (over && !isFresh()) {
      nameEnd = at;
      return false;
    }
    at = next;
    anew();
    return true;
  }

  private boolean isQualifier(int from) {
    for (String qualifier : QUALIFIERS) {
      if (name.startsWith(qualifier, from)) {
        return true;
      }
    }
    return false;
  }

  /** Reads arguments. Returns whether the name goes on behind them. */
  private boolean arguments() {
    int open = at;
    at = close('(', ')');
    if (at >= end || isQualifier(at)) {
      nameEnd = open;
      return false;
    }
    char next = name.charAt(at);
    if (next == ' ') {
      at++;
      anew();
      return true;
    }
    if (next == ':' || next == '.' || next == '[' || next == '(' || next == '{') {
      return true;
    }
    nameEnd = open;
    return false;
  }

  /**
   * {@code <init>} stays; of {@code <T as Trait>} and {@code <impl Trait for T>} T does; of the
   * arguments of {@code swap::<T>} nothing.
   */
  private void angle() {
    int close = close('<', '>');
    int from = at + 1;
    int to = Math.max(from, close - 1);
    boolean word = to > from;
    for (int i = from; i < to && word; i++) {
      char c = name.charAt(i);
      word = Character.isLetterOrDigit(c) || c == '_' || c == '$' || c == '-';
    }
    boolean follows = words.length() > 0 && name.startsWith("::", at - 2);
    if (follows && areArguments(from, to, word)) {
      at = close;
      return;
    }
    if (word) {
      words.append(name, at, close);
      at = close;
      return;
    }
    if (name.startsWith("impl ", from)) {
      int of = find(" for ", from, to);
      from = of < 0 ? from + 5 : of + 5;
    } else {
      int as = find(" as ", from, to);
      to = as < 0 ? to : as;
    }
    inner(from, to);
    at = close;
  }

  /**
   * Whether the text in {@code ::<…>} is a list of arguments of a Rust function. Otherwise the text
   * is a name.
   */
  private boolean areArguments(int from, int to, boolean word) {
    if (word) {
      char first = name.charAt(from);
      return Character.isUpperCase(first)
          || ShortName.isDigit(first)
          || PRIMITIVES.contains(name.substring(from, to));
    }
    return !name.startsWith("impl ", from)
        && !name.startsWith("lambda", from)
        && find(" as ", from, to) < 0;
  }

  /** Reads a type in parentheses, such as Go's receiver. */
  private void parentheses() {
    int close = close('(', ')');
    if (!name.startsWith(ANONYMOUS, at)) {
      inner(at + 1, Math.max(at + 1, close - 1));
    }
    at = close;
  }

  /** Keeps the last word of the text between two places. */
  private void inner(int begin, int to) {
    int from = begin;
    while (from < to && "&*".indexOf(name.charAt(from)) >= 0) {
      from++;
    }
    for (String noise : new String[] {"mut ", "const ", "dyn "}) {
      if (name.startsWith(noise, from) && from + noise.length() <= to) {
        from += noise.length();
      }
    }
    if (depth == MAX_DEPTH || from >= to) {
      return;
    }
    NameWords scan = of(name, from, to, depth + 1);
    int word = scan.tail();
    if (word >= 0) {
      words.append(scan.words, scan.starts[word], scan.words.length());
    }
  }

  /** Where a text stands outside of brackets; -1 if nowhere. */
  private int find(String text, int from, int to) {
    int open = 0;
    for (int i = from; i + text.length() <= to; i++) {
      char c = name.charAt(i);
      if (c == '<' || c == '(' || c == '[') {
        open++;
      } else if (c == ')' || c == ']' || c == '>' && name.charAt(i - 1) != '-') {
        open--;
      } else if (open == 0 && c == text.charAt(0) && name.startsWith(text, i)) {
        return i;
      }
    }
    return -1;
  }

  /** Copies brackets and their content, without arguments. */
  private void copyGroup(char open, char close) {
    int to = close(open, close);
    int brackets = 0;
    for (; at < to; at++) {
      char c = name.charAt(at);
      brackets += c == '(' || c == '<' ? 1 : 0;
      if (brackets == 0) {
        words.append(c);
      }
      brackets -= (c == ')' || c == '>') && brackets > 0 ? 1 : 0;
    }
  }

  /**
   * The index behind the bracket that closes the one at this place; the end if no bracket closes
   * it.
   */
  private int close(char open, char close) {
    int deep = 0;
    for (int i = at; i < end; i++) {
      char c = name.charAt(i);
      if (c == open) {
        deep++;
      } else if (c == close && !(c == '>' && i > 0 && name.charAt(i - 1) == '-') && --deep == 0) {
        return i + 1;
      }
    }
    return end;
  }
}
