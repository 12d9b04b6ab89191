package flametop.profile.format;

import flametop.array.BytesIndex;
import flametop.array.IntColumn;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads what {@code perf script} prints: for each sample a line with the comm, the time, the period
 * and the event, and below it a line for each frame, innermost first. The comm is the outermost
 * frame, and says its process and thread. Each event is a measure, whose values are the periods, or
 * 1 where none is printed.
 */
final class PerfScriptReader implements ProfileReader {
  /** The longest line that is read; a name of a template may be long. */
  private static final int MAX_LINE = 1 << 20;

  private static final int MOST_FRAMES = 1 << 20;

  /** What is remembered of names, in entries: what perf prints of a gigabyte is far less. */
  private static final int MOST_NAMES = 1 << 22;

  /** Most bytes of lines that are remembered as they are. */
  private static final int MOST_LINE_BYTES = 64 << 20;

  private static final VarHandle WORDS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

  /** By byte: whether it is a digit of a hexadecimal number. */
  private static final boolean[] HEX = new boolean[128];

  static {
    for (char digit : "0123456789abcdefABCDEF".toCharArray()) {
      HEX[digit] = true;
    }
  }

  private byte[] buffer = new byte[1 << 18];

  /** Frames by the text of their lines behind the address. */
  private final Remembered<String> frames = new Remembered<>();

  /** Lines of frames behind the address, and by row the frame of each: most come many times. */
  private final BytesIndex lines = new BytesIndex(MOST_LINE_BYTES, MOST_NAMES);

  private final IntColumn ofLines = new IntColumn();

  private final Remembered<String> comms = new Remembered<>();
  private final Remembered<String> events = new Remembered<>();

  // The sample that is read: frames innermost first.
  private int[] stack = new int[256];
  private int depth;
  private int[] outermostFirst = new int[256];
  private boolean open;
  private int comm;
  private int measure;
  private long period;

  // Lines of which nothing is shown.
  private long odd;
  private long homeless;
  private long tooDeep;

  // The parts of the line of a sample, which the latest of the methods below found.
  private int commEnd;
  private int numbersEnd;
  private int valuesBegin;

  @Override
  public void read(Source source, StackSink to) throws IOException {
    to.owners();
    InputStream in = source.stream();
    int begin = 0;
    int end = 0;
    boolean skips = false;
    IOException failed = null;
    while (true) {
      int count;
      try {
        count = in.read(buffer, end, buffer.length - end);
      } catch (IOException e) {
        failed = e;
        count = -1;
      }
      if (count < 0) {
        break;
      }
      end += count;
      for (int i = end - count; (i = newline(buffer, i, end)) >= 0; i++) {
        if (!skips) {
          line(begin, i, to);
        }
        skips = false;
        begin = i + 1;
      }
      if (begin > 0) {
        System.arraycopy(buffer, begin, buffer, 0, end - begin);
        end -= begin;
        begin = 0;
      } else if (end == buffer.length && end >= MAX_LINE) {
        if (!skips) {
          to.leaveOut("its line is too long");
        }
        skips = true;
        open = false;
        end = 0;
      } else if (end == buffer.length) {
        buffer = Arrays.copyOf(buffer, 2 * end);
      }
    }
    if (failed == null) {
      if (!skips && end > begin) {
        line(begin, end, to);
      }
      end(to);
    }
    to.note(odd, "indented lines begin with no address, and are left out");
    to.note(homeless, "indented lines are frames below no sample, and are left out");
    to.note(tooDeep, "indented lines are frames of stacks that are too deep, and are left out");
    if (failed != null) {
      throw failed;
    }
  }

  /** Where the next line ends; -1 if it does not. */
  private static int newline(byte[] in, int from, int end) {
    int at = from;
    for (; at + Long.BYTES <= end; at += Long.BYTES) {
      // A byte of the difference is 0 where a line ends.
      long differs = (long) WORDS.get(in, at) ^ 0x0A0A_0A0A_0A0A_0A0AL;
      long zeros = differs - 0x0101_0101_0101_0101L & ~differs & 0x8080_8080_8080_8080L;
      if (zeros != 0) {
        return at + (Long.numberOfTrailingZeros(zeros) >> 3);
      }
    }
    while (at < end && in[at] != '\n') {
      at++;
    }
    return at < end ? at : -1;
  }

  private void line(int from, int end, StackSink to) {
    int last = end;
    while (last > from && isSpace(buffer[last - 1])) {
      last--;
    }
    if (last == from) {
      // Some lines of samples have an empty line between them and their frames.
      if (depth > 0) {
        end(to);
      }
    } else if (buffer[from] == '#') {
      return;
    } else if (isSpace(buffer[from]) && (open && depth > 0 || !isSample(from, last))) {
      frame(from, last, to);
    } else {
      // Without -g perf aligns comms to the right.
      end(to);
      sample(skip(from, last), last, to);
    }
  }

  private static boolean isSpace(byte of) {
    return of == ' ' || of == '\t' || of == '\r';
  }

  private static boolean isDigit(byte of) {
    return of >= '0' && of <= '9';
  }

  /** {@code java 4711/4712 [002] 5123.456789: 10101010 cpu-clock:u: }. */
  private void sample(int from, int end, StackSink to) {
    if (!isSample(from, end)) {
      to.leaveOut("it is no line of perf script");
      return;
    }
    int at = valuesBegin;
    period = 1;
    int digits = at;
    while (digits < end && isDigit(buffer[digits])) {
      digits++;
    }
    if (digits > at && digits < end && isSpace(buffer[digits])) {
      period = number(at, digits);
      at = skip(digits, end);
    }
    int stop = at;
    while (stop < end && !isSpace(buffer[stop])) {
      stop++;
    }
    int colon = stop;
    while (colon > at && buffer[colon - 1] == ':') {
      colon--;
    }
    if (colon == at || colon == stop) {
      to.leaveOut("its line names no event");
      return;
    }
    measure = events.of(text(at, colon), name -> event(name, to));
    comm = owner(from, commEnd, numbersEnd, to);
    open = true;
    depth = 0;
    int rest = skip(stop, end);
    if (hexEnd(rest, end) > rest) {
      // Without -g the address stands on the line itself.
      frame(rest, end, to);
      end(to);
    }
  }

  /** The frame of a comm and the numbers behind it: {@code 4711/4712}, or that of a thread. */
  private int owner(int from, int name, int end, StackSink to) {
    return comms.of(
        text(from, end),
        key -> {
          String comm = text(from, name);
          String[] numbers = key.substring(comm.length()).strip().split("/", -1);
          int last = TaskNumber.of(numbers[numbers.length - 1]);
          int pid = numbers.length > 1 ? TaskNumber.of(numbers[0]) : 0;
          return to.owner(new Owner(comm, pid, comm, last, "", null));
        });
  }

  private int event(String name, StackSink to) {
    // The name may end in modifiers: cycles:u.
    boolean clock = name.startsWith("cpu-clock") || name.startsWith("task-clock");
    Unit unit = clock ? Unit.of("ns", "") : Unit.of("", name);
    return to.measure(name, Unit.whole(unit.name()), events.isEmpty());
  }

  /**
   * Whether a line is that of a sample: a time ends in a colon. {@code -F -time} and old versions
   * leave the time out, and the event, or the period in front of it, follows the numbers.
   */
  private boolean isSample(int from, int end) {
    int first = colon(from, end);
    for (int i = first; i < end; i = colon(i + 1, end)) {
      int word = word(from, i);
      if (isTime(word, i) && hasOwner(from, word)) {
        valuesBegin = skip(i + 1, end);
        return true;
      }
    }
    for (int i = first; i < end; i = colon(i + 1, end)) {
      int rest = skip(i + 1, end);
      if ((rest == end || hexEnd(rest, end) > rest) && isSampleOf(from, word(from, i))) {
        return true;
      }
    }
    return false;
  }

  /** The same of a line without a time, by the begin of the event. */
  private boolean isSampleOf(int from, int event) {
    int end = back(from, event);
    int period = word(from, end);
    valuesBegin = isNumber(period, end) && hasOwner(from, period) ? period : event;
    return hasOwner(from, valuesBegin);
  }

  /** Where the next word ends in a colon; the end if none does. */
  private int colon(int from, int end) {
    int at = from;
    while (at < end && (buffer[at] != ':' || at + 1 < end && !isSpace(buffer[at + 1]))) {
      at++;
    }
    return at;
  }

  private int word(int from, int end) {
    int at = end;
    while (at > from && !isSpace(buffer[at - 1])) {
      at--;
    }
    return at;
  }

  private boolean isNumber(int from, int end) {
    int at = from;
    while (at < end && isDigit(buffer[at])) {
      at++;
    }
    return at == end && end > from;
  }

  private boolean isTime(int from, int end) {
    int point = from;
    while (point < end && buffer[point] != '.') {
      point++;
    }
    return isNumber(from, point) && isNumber(point + 1, end);
  }

  /** Whether a comm and the numbers of process and thread, and of a CPU, end at a place. */
  private boolean hasOwner(int from, int end) {
    int at = back(from, end);
    if (at > from && buffer[at - 1] == ']') {
      while (at > from && buffer[at - 1] != '[') {
        at--;
      }
      at = back(from, at - 1);
    }
    numbersEnd = at;
    while (at > from
        && (isDigit(buffer[at - 1]) || buffer[at - 1] == '/' || buffer[at - 1] == '-')) {
      at--;
    }
    commEnd = back(from, at);
    return at < numbersEnd && commEnd < at && commEnd > from;
  }

  private int back(int from, int at) {
    int end = Math.max(from, at);
    while (end > from && isSpace(buffer[end - 1])) {
      end--;
    }
    return end;
  }

  private int skip(int from, int end) {
    int at = Math.min(from, end);
    while (at < end && isSpace(buffer[at])) {
      at++;
    }
    return at;
  }

  private long number(int from, int end) {
    if (end - from > 18) {
      return Unit.TOO_LARGE;
    }
    long sum = 0;
    for (int i = from; i < end; i++) {
      sum = 10 * sum + buffer[i] - '0';
    }
    return sum;
  }

  /** Where the address ends that begins at a place; the place if none begins there. */
  private int hexEnd(int from, int end) {
    int at = from;
    while (at < end && buffer[at] >= 0 && HEX[buffer[at]]) {
      at++;
    }
    return at == end || isSpace(buffer[at]) ? at : from;
  }

  /** {@code ffffffff81000000 do_syscall_64+0x3d ([kernel.kallsyms])}. */
  private void frame(int from, int end, StackSink to) {
    int address = skip(from, end);
    int addressEnd = hexEnd(address, end);
    if (addressEnd == address) {
      // An argument of a tracepoint, or a source line.
      odd++;
      return;
    }
    if (!open) {
      homeless++;
      return;
    }
    if (depth > MOST_FRAMES) {
      tooDeep++;
      return;
    }
    int at = skip(addressEnd, end);
    int number;
    if (at == end) {
      number = frames.of(text(address, end), name -> to.frame(NodeKind.UNKNOWN, name, ""));
    } else if ((number = seen(at, end)) == StackSink.NO_FRAME) {
      int module = module(at, end);
      int name = module < 0 ? end : back(at, module);
      name = withoutOffset(at, name);
      boolean named = name > at;
      String shown = named ? text(at, name) : "0x" + text(address, addressEnd);
      String key = shown + '\0' + (module < 0 ? "" : text(module + 1, end - 1));
      number = frames.of(key, text -> add(text, named, to));
      if (named) {
        see(at, end, number);
      }
    }
    if (depth == stack.length) {
      stack = Arrays.copyOf(stack, 2 * depth);
    }
    stack[depth++] = number;
  }

  /** The frame of a line that was seen before, by its text behind the address. */
  private int seen(int from, int end) {
    int row = lines.find(buffer, from, end);
    return row < 0 ? StackSink.NO_FRAME : ofLines.items[row];
  }

  private void see(int from, int end, int number) {
    int row = number == StackSink.NO_FRAME ? -1 : lines.row(buffer, from, end);
    if (row >= 0) {
      ofLines.set(row, number);
    }
  }

  /** Where the parenthesis of the module opens; -1 if there is none. */
  private int module(int from, int end) {
    if (buffer[end - 1] != ')') {
      return -1;
    }
    int open = 0;
    for (int i = end - 1; i >= from; i--) {
      open += buffer[i] == ')' ? 1 : buffer[i] == '(' ? -1 : 0;
      if (open == 0) {
        return i;
      }
    }
    return -1;
  }

  private int withoutOffset(int from, int end) {
    int at = end;
    while (at > from && Character.digit(buffer[at - 1], 16) >= 0) {
      at--;
    }
    return at < end
            && at - 3 > from
            && buffer[at - 1] == 'x'
            && buffer[at - 2] == '0'
            && buffer[at - 3] == '+'
        ? at - 3
        : end;
  }

  private int add(String key, boolean named, StackSink to) {
    int split = key.indexOf('\0');
    String name = key.substring(0, split);
    String module = key.substring(split + 1);
    boolean inlined = module.equals("inlined");
    boolean unknown = !named || name.equals("[unknown]");
    NodeKind kind =
        inlined
            ? NodeKind.INLINED
            : isKernel(module) ? NodeKind.KERNEL : unknown ? NodeKind.UNKNOWN : NodeKind.USER;
    return to.frame(kind, name, inlined ? "" : module);
  }

  private static boolean isKernel(String module) {
    return module.startsWith("[kernel")
        || module.startsWith("[guest.kernel")
        || module.endsWith(".ko")
        || module.contains(".ko.")
        || module.endsWith("/vmlinux")
        || module.contains("/vmlinux-")
        || module.startsWith("bpf_prog_")
        || module.startsWith("[")
            && !module.equals("[unknown]")
            && !module.startsWith("[vdso]")
            && !module.startsWith("[stack")
            && !module.startsWith("[heap]")
            && !module.startsWith("[vsyscall]")
            && !module.startsWith("[anon");
  }

  private String text(int from, int end) {
    return new String(buffer, from, Math.max(0, end - from), StandardCharsets.UTF_8);
  }

  /** Hands the sample on that was read. */
  private void end(StackSink to) {
    if (!open) {
      return;
    }
    open = false;
    if (depth >= outermostFirst.length) {
      outermostFirst = new int[2 * depth];
    }
    outermostFirst[0] = comm;
    for (int i = 0; i < depth; i++) {
      outermostFirst[depth - i] = stack[i];
    }
    to.stack(measure, outermostFirst, 0, depth + 1, period);
  }
}
