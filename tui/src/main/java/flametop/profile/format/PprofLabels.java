package flametop.profile.format;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.sampler.State;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** The labels of the samples of pprof that say whose a sample is, by the names that writers use. */
final class PprofLabels {
  private static final int MOST_KEYS = 1 << 16;
  private static final int MOST_OWNERS = 1 << 16;

  /** Most labels of a sample that are kept. */
  private static final int MOST_LABELS = 64;

  /** What a label tells. */
  private enum Part {
    OTHER(),
    PROCESS("process", "comm", "process_name"),
    PID("pid", "process_id"),
    THREAD("thread", "thread_name"),
    TID("tid", "thread_id"),
    STATE("state", "thread_state"),
    CGROUP("cgroup");

    @SuppressWarnings("ImmutableEnumChecker") // a copy that nobody can change
    private final List<String> keys;

    Part(String... keys) {
      this.keys = List.of(keys);
    }

    static Part of(String key) {
      String plain = key.toLowerCase(Locale.ROOT).replace(' ', '_').replace('-', '_');
      for (Part part : values()) {
        if (part.keys.contains(plain)) {
          return part;
        }
      }
      return OTHER;
    }
  }

  private static final int PARTS = Part.values().length;

  private final LongFunction<String> strings;

  /** Labels that say no owner, of the sample that is read; of that before. */
  private List<StackSink.Label> others = new ArrayList<>();

  private List<StackSink.Label> handed = List.of();
  private boolean keeps;

  /** By number of a string: its part plus 1; 0 is not known yet. */
  private final IntColumn parts = new IntColumn();

  /** By part: the number of a string above 0, a number below 0 as its complement; 0: no label. */
  private final LongColumn values = new LongColumn();

  private final Remembered<List<Long>> owners = new Remembered<>(MOST_OWNERS);
  private boolean any;

  /** Of a label: key, text, number and unit. */
  private final long[] fields = new long[5];

  /**
   * @param strings the text of a number
   */
  PprofLabels(LongFunction<String> strings) {
    this.strings = strings;
    values.zero(PARTS);
  }

  /** Whether labels that say no owner are kept. */
  void keep(boolean others) {
    keeps = others;
  }

  /** Hands on the labels that say no owner. */
  void hand(StackSink to) {
    if (!others.equals(handed)) {
      handed = List.copyOf(others);
      to.labels(handed);
    }
  }

  /** Begins with the labels of another sample. */
  void clear() {
    if (!others.isEmpty()) {
      others = new ArrayList<>();
    }
    if (any) {
      values.zero(PARTS);
      any = false;
    }
  }

  /** Takes a label. */
  void add(ProtobufInput label) throws IOException {
    Arrays.fill(fields, 0);
    label.values(fields);
    long key = fields[1];
    long text = fields[2];
    long number = fields[3];
    int part = part(key);
    if (part == 0 && keeps && others.size() < MOST_LABELS) {
      String word = text == 0 ? "" : strings.apply(text);
      others.add(new StackSink.Label(strings.apply(key), word, number, strings.apply(fields[4])));
    }
    if (part > 0) {
      values.items[part] = text > 0 ? text : number > 0 ? ~number : 0;
      any = true;
    }
  }

  private int part(long key) {
    if (key < 0 || key >= MOST_KEYS) {
      return 0;
    }
    int known = parts.get((int) key);
    if (known == 0) {
      known = 1 + Part.of(strings.apply(key)).ordinal();
      parts.set((int) key, known);
    }
    return known - 1;
  }

  /**
   * The frame of the owner that the labels say; {@link StackSink#NO_FRAME} if they say none.
   *
   * @param first name of the outermost frame if that frame is an owner, else empty
   */
  int owner(String first, StackSink to) {
    if (!any) {
      return StackSink.NO_FRAME;
    }
    if (!first.isEmpty()) {
      return frame(first, to);
    }
    Long[] key = new Long[PARTS];
    for (int i = 0; i < PARTS; i++) {
      key[i] = values.items[i];
    }
    return owners.of(List.of(key), none -> frame(first, to));
  }

  private int frame(String first, StackSink to) {
    Owner owner = owner(first);
    return owner == null ? StackSink.NO_FRAME : to.owner(owner);
  }

  private @Nullable Owner owner(String first) {
    int pid = number(Part.PID);
    int tid = number(Part.TID);
    String thread = text(Part.THREAD);
    String process = first.isEmpty() ? text(Part.PROCESS) : first;
    String comm =
        !process.isEmpty()
            ? process
            : !thread.isEmpty()
                ? thread
                : pid > 0 ? "process " + pid : tid > 0 ? "thread " + tid : "";
    State state = state(text(Part.STATE));
    String cgroup = text(Part.CGROUP);
    return comm.isEmpty() && state == null && cgroup.isEmpty()
        ? null
        : new Owner(comm.isEmpty() ? "-" : comm, pid, thread, tid, cgroup, state);
  }

  private String text(Part of) {
    long value = values.items[of.ordinal()];
    return value > 0 ? strings.apply(value) : value < 0 ? Long.toString(~value) : "";
  }

  private int number(Part of) {
    return TaskNumber.of(text(of));
  }

  /** The state with a name of flametop, or with a word that other programs use; null if none. */
  static @Nullable State state(String name) {
    for (State state : State.values()) {
      if (state.label().equals(name)) {
        return state;
      }
    }
    return switch (name.toLowerCase(Locale.ROOT)) {
      case "running", "runnable", "on-cpu", "oncpu", "cpu" -> State.RUN;
      case "runqueue", "ready" -> State.QUEUED;
      case "sleeping", "waiting", "blocked", "off-cpu", "offcpu", "timed_waiting", "parked_wait" ->
          State.SLEEP;
      case "uninterruptible", "disk sleep" -> State.DISK;
      default -> null;
    };
  }
}
