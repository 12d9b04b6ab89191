package flametop.profile.format;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.NodeKind;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads {@code profile.proto} of pprof. The samples of a file stand before the tables that their
 * numbers are of, so the whole message is held in memory: it is read once for the tables and once
 * for the samples. Of the labels of a sample {@code process}, {@code comm} and {@code thread}
 * become the outermost frame.
 *
 * @see <a href="https://github.com/google/pprof/blob/main/proto/profile.proto">its definition</a>
 */
final class PprofReader implements ProfileReader {
  /** A stack with more is left out. */
  private static final int MOST_FRAMES = 1 << 20;

  /** Most frames that inlining makes of one location. */
  private static final int MOST_LINES = 1 << 12;

  private static final int MOST_COMMENTS = 100;

  /** What flametop says of the outermost frames, in a comment. */
  private static final String FIRST_FUNCTION = "first frame: function";

  private static final String FIRST_OWNER = "first frame: comm";

  /** Longest string that is kept, B. */
  private static final int MAX_STRING = 1 << 15;

  private byte[] bytes = new byte[1 << 16];
  private int length;

  // By position: where a string, a location, a function, a mapping begins, and where it ends.
  private final LongColumn strings = new LongColumn();
  private final LongColumn types = new LongColumn();
  private final Table locations = new Table();
  private final Table functions = new Table();
  private final Table mappings = new Table();
  private final LongColumn comments = new LongColumn();
  private long defaultType;
  private long beginNanos;
  private long lengthNanos;
  private long periodType;
  private long period;

  /** By number of a location: where its frames begin in {@link #frames}; one more, 0 is unknown. */
  private final IntColumn firstFrame = new IntColumn();

  private final IntColumn frames = new IntColumn();

  /** By number of a location with one frame: that frame plus 1. */
  private final IntColumn single = new IntColumn();

  private final PprofLabels labels = new PprofLabels(this::string);

  /** Names of the frames of flametop's own profiles that have no module: owners are among them. */
  private final Map<Integer, String> bare = new HashMap<>();

  private Unit[] units = new Unit[0];
  private boolean ofFlametop;

  /** Whether the outermost frame of each stack is an owner. */
  private boolean owned;

  /** Whether frames without a module are in no mapping. */
  private boolean plain;

  private long lost;
  private int damagedTypes;
  private int missing = StackSink.NO_FRAME;

  /** Messages by their ids. */
  private static final class Table {
    /** Ids below this are mostly 1, 2, 3 …. */
    private static final int DENSE = 1 << 20;

    private final LongIndex ids = new LongIndex();
    private final LongColumn places = new LongColumn();

    void add(long id, long place) {
      places.set(ids.row(id), place);
    }

    /** Row of a message; {@link LongIndex#NONE} if there is none. */
    int row(long id) {
      return ids.find(id);
    }

    ProtobufInput message(byte[] bytes, int row) {
      return new ProtobufInput(bytes, places.items[row]);
    }
  }

  @Override
  public void read(Source source, StackSink to) throws IOException {
    IOException failed = null;
    try {
      load(source.stream());
    } catch (IOException e) {
      failed = e;
    }
    int end = length;
    try {
      end = tables();
    } catch (IOException e) {
      failed = failed == null ? e : failed;
    }
    IOException later = samples(end, to);
    failed = failed == null ? later : failed;
    if (lost > 0) {
      to.note(
          (lost == 1 ? "1 frame refers" : lost + " frames refer")
              + " to a location or function that the file does not have: [no location]");
    }
    if (failed != null) {
      throw failed;
    }
  }

  private void load(InputStream from) throws IOException {
    int most = (int) Math.min(1 << 30, Runtime.getRuntime().maxMemory() / 4);
    while (true) {
      if (length == bytes.length) {
        if (length >= most) {
          throw new IOException(
              "it is larger than "
                  + (most >> 20)
                  + " MiB unpacked, and a profile of pprof is held in memory");
        }
        bytes = Arrays.copyOf(bytes, (int) Math.min(most, 2L * length));
      }
      int count = from.read(bytes, length, bytes.length - length);
      if (count < 0) {
        return;
      }
      length += count;
    }
  }

  /** Finds the tables; returns where what can be read ends. */
  private int tables() throws IOException {
    ProtobufInput message = new ProtobufInput(bytes, length);
    while (message.next()) {
      if (!message.isBytes()) {
        switch (message.field()) {
          case 9 -> beginNanos = message.value();
          case 10 -> lengthNanos = message.value();
          case 12 -> period = message.value();
          case 13 -> comments.add(message.value());
          case 14 -> defaultType = message.value();
          default -> {}
        }
        continue;
      }
      switch (message.field()) {
        case 1 -> types.add(message.place());
        case 3 -> mappings.add(id(message), message.place());
        case 4 -> locations.add(id(message), message.place());
        case 5 -> functions.add(id(message), message.place());
        case 6 -> strings.add(message.place());
        case 11 -> periodType = message.place();
        case 13 -> message.numbers(comments);
        default -> {}
      }
    }
    return length;
  }

  private long id(ProtobufInput of) throws IOException {
    ProtobufInput message = new ProtobufInput(bytes, of.place());
    return message.find(1) ? message.value() : 0;
  }

  /** Hands the samples on; returns why not all of them, null if all. */
  private @Nullable IOException samples(int end, StackSink to) {
    look();
    if (owned) {
      to.owners();
    }
    if (to.wantsLabels()) {
      to.facts(facts());
    }
    labels.keep(to.wantsLabels());
    int[] measures = measures(to);
    LongColumn stack = new LongColumn();
    LongColumn values = new LongColumn();
    IntColumn path = new IntColumn();
    ProtobufInput message = new ProtobufInput(bytes, end);
    ProtobufInput sample = new ProtobufInput(bytes, 0);
    try {
      while (message.find(2)) {
        if (!message.isBytes()) {
          continue;
        }
        sample.over(message.place());
        stack.clear();
        values.clear();
        labels.clear();
        while (sample.next()) {
          switch (sample.field()) {
            case 1 -> sample.numbers(stack);
            case 2 -> sample.numbers(values);
            case 3 -> {
              if (sample.isBytes()) {
                labels.add(new ProtobufInput(bytes, sample.place()));
              }
            }
            default -> {}
          }
        }
        if (values.size == 0) {
          to.leaveOut("it has no value");
          continue;
        }
        path.clear();
        // Room for an owner.
        path.add(StackSink.NO_FRAME);
        // The innermost frame stands first.
        for (int i = stack.size - 1; i >= 0 && path.size <= MOST_FRAMES; i--) {
          location(stack.items[i], path, to);
        }
        labels.hand(to);
        int own = owner(path, to);
        if (own > 0) {
          path.removeFirst(own);
        }
        int shared = 0;
        for (int i = 0; i < Math.min(values.size, measures.length); i++) {
          if (values.items[i] != 0) {
            to.stack(measures[i], path.items, shared, path.size, units[i].of(values.items[i]));
            shared = path.size;
          }
        }
      }
      return null;
    } catch (IOException e) {
      return e;
    }
  }

  /**
   * Puts the owner of a sample before its frames.
   *
   * @return how many first items of the path are none then
   */
  private int owner(IntColumn path, StackSink to) {
    String first = path.size > 1 ? bare.getOrDefault(path.items[1], "") : "";
    if (owned && first.isEmpty()) {
      return 1;
    }
    int owner = labels.owner(first, to);
    if (owner == StackSink.NO_FRAME) {
      return 1;
    }
    // flametop writes the owner as a frame, too.
    int at = owned ? 1 : 0;
    path.items[at] = owner;
    return at;
  }

  private int[] measures(StackSink to) {
    int count = Math.min(types.size, 200);
    int[] measures = new int[Math.max(1, count)];
    units = new Unit[measures.length];
    units[0] = Unit.of("count", "samples");
    for (int i = 0; i < count; i++) {
      long[] type = type(types.items[i]);
      long name = type[1];
      String text = string(name);
      units[i] = Unit.of(string(type[2]), text);
      // The last is what pprof shows if nobody chose another.
      boolean preferred = defaultType == 0 ? i == count - 1 : name == defaultType;
      measures[i] = to.measure(text, units[i], preferred);
    }
    if (damagedTypes > 0) {
      to.note("a sample type is damaged");
    }
    if (count == 0) {
      measures[0] = to.measure("samples", units[0], true);
    }
    return measures;
  }

  /** Looks at the comments for what flametop says in them. */
  private void look() {
    boolean says = false;
    for (String line : comments()) {
      ofFlametop |= line.startsWith("program: flametop");
      says |= line.equals(FIRST_FUNCTION);
      plain |= line.equals(FIRST_FUNCTION) || line.equals(FIRST_OWNER);
    }
    owned = ofFlametop && !says;
    plain &= ofFlametop;
  }

  private List<String> comments() {
    return Arrays.stream(comments.items, 0, Math.min(comments.size, MOST_COMMENTS))
        .mapToObj(this::string)
        .toList();
  }

  private ProfileFacts facts() {
    long[] type = type(periodType);
    return new ProfileFacts(
        beginNanos, lengthNanos, string(type[1]), string(type[2]), period, comments());
  }

  /** The numbers of name (1) and unit (2) of a type; 0 of what it does not have. */
  private long[] type(long place) {
    long[] numbers = new long[3];
    try {
      new ProtobufInput(bytes, place).values(numbers);
    } catch (IOException e) {
      damagedTypes++;
    }
    return numbers;
  }

  /** Adds the frames of a location, outermost first. */
  private void location(long id, IntColumn path, StackSink to) {
    int alone = id >= 0 && id < Table.DENSE ? single.get((int) id) : 0;
    if (alone > 0) {
      path.add(alone - 1);
      return;
    }
    int row = locations.row(id);
    if (row == LongIndex.NONE) {
      lost++;
      path.add(missing(to));
      return;
    }
    int first = firstFrame.get(row) - 1;
    if (first < 0) {
      first = frames.size;
      firstFrame.set(row, first + 1);
      int count = frames.size;
      frames.add(0);
      try {
        lines(row, to);
      } catch (IOException e) {
        frames.size = count + 1;
        frames.add(missing(to));
      }
      frames.items[count] = frames.size - count - 1;
    }
    for (int i = 1; i <= frames.items[first]; i++) {
      path.add(frames.items[first + i]);
    }
    if (frames.items[first] == 1 && id >= 0 && id < Table.DENSE) {
      single.set((int) id, 1 + frames.items[first + 1]);
    }
  }

  private int missing(StackSink to) {
    if (missing == StackSink.NO_FRAME) {
      missing = to.frame(NodeKind.UNKNOWN, "[no location]", "");
    }
    return missing;
  }

  private void lines(int row, StackSink to) throws IOException {
    ProtobufInput location = locations.message(bytes, row);
    long mapping = 0;
    long address = 0;
    LongColumn lines = new LongColumn();
    while (location.next()) {
      switch (location.field()) {
        case 2 -> mapping = location.value();
        case 3 -> address = location.value();
        case 4 -> {
          if (location.isBytes() && lines.size < MOST_LINES) {
            lines.add(location.place());
          }
        }
        default -> {}
      }
    }
    String module = mapping == 0 ? "" : file(mapping);
    if (lines.size == 0) {
      frames.add(to.frame(NodeKind.UNKNOWN, "0x" + Long.toHexString(address), module));
    }
    // The function that others were inlined into stands last.
    for (int i = lines.size - 1; i >= 0; i--) {
      boolean inlined = i < lines.size - 1;
      frames.add(function(lines.items[i], module, inlined, to));
    }
  }

  private int function(long place, String module, boolean inlined, StackSink to)
      throws IOException {
    // Function, number, column.
    long[] line = new long[4];
    new ProtobufInput(bytes, place).values(line);
    int row = functions.row(line[1]);
    if (row == LongIndex.NONE) {
      lost++;
      return missing(to);
    }
    // Name, system's name, file.
    long[] function = new long[5];
    functions.message(bytes, row).values(function);
    String systemName = string(function[3]);
    String text = function[2] == 0 ? systemName : string(function[2]);
    String source = string(function[4]);
    String in = module.isEmpty() && !plain ? source : module;
    boolean without = owned && (plain ? in.isEmpty() : in.equals(file(1)));
    NodeKind marked = ofFlametop ? FrameMark.kind(systemName, text) : NodeKind.USER;
    NodeKind kind =
        marked != NodeKind.USER
            ? marked
            : inlined
                ? NodeKind.INLINED
                : in.startsWith("[kernel") ? NodeKind.KERNEL : NodeKind.USER;
    Place at = line[2] > 0 || !source.equals(in) ? Place.of(source, line[2], line[3]) : Place.NONE;
    int frame = to.frame(kind, text, without ? "" : in, at);
    if (without) {
      bare.put(frame, text);
    }
    return frame;
  }

  private String file(long mapping) {
    int row = mappings.row(mapping);
    if (row == LongIndex.NONE) {
      return "";
    }
    try {
      ProtobufInput message = mappings.message(bytes, row);
      return message.find(5) ? string(message.value()) : "";
    } catch (IOException e) {
      return "";
    }
  }

  private String string(long number) {
    if (number < 0 || number >= strings.size) {
      return number == 0 ? "" : "[string " + number + " is missing]";
    }
    long place = strings.items[(int) number];
    int from = (int) (place >>> 32);
    int size = Math.min((int) place - from, MAX_STRING);
    return new String(bytes, from, size, StandardCharsets.UTF_8);
  }
}
