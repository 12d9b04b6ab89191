package flametop.export;

import flametop.profile.answer.StateSet;
import flametop.sampler.Head;
import flametop.sampler.IdSpace;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.State;
import flametop.sampler.StreamFacts;
import flametop.sampler.StreamVisitor;
import flametop.sampler.WalkEnd;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes a row for each task and pass, while the stream comes: {@code
 * timestamp|tid|tgid|comm|state|ustack|kstack}, as xstack of 0x.tools does. A stack is its frames
 * with {@code ;} between them, outermost first, or {@code -}. Names come after the stacks: rows
 * wait for them, for two seconds of the stream at most, and keep their order.
 */
public final class XstackWriter implements StreamVisitor {
  private static final long PATIENCE_NANOS = 2_000_000_000L;
  private static final String NONE = "-";

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSSSS", Locale.ROOT)
          .withZone(ZoneOffset.UTC);

  private final Writer out;
  private final StateSet states;
  private final boolean reversed;
  private final long wallOffset;

  /** By process: its number, as the kernel has it. */
  private final Map<Integer, Integer> tgids = new HashMap<>();

  private final Map<Integer, Task> tasks = new HashMap<>();
  private final Map<Integer, String> modules = new HashMap<>();
  private final Map<Integer, Frame> frames = new HashMap<>();
  private final Map<Integer, Stack> stacks = new HashMap<>();
  private final Deque<Row> waiting = new ArrayDeque<>();
  private long time;
  private boolean endsPass;
  private long rows;

  /** One row to be written. */
  private record Row(
      long time, int tid, int tgid, String comm, State state, @Nullable Stack stack) {}

  private static final class Task {
    final int process;
    final int tid;
    final String comm;
    @Nullable State state;
    @Nullable Stack stack;

    Task(int process, int tid, String comm) {
      this.process = process;
      this.tid = tid;
      this.comm = comm;
    }
  }

  private static final class Frame {
    final String address;
    @Nullable String name;

    Frame(String address) {
      this.address = address;
    }
  }

  private static final class Stack {
    final Frame[] frames;
    final int user;
    final WalkEnd end;
    private boolean named;

    Stack(Frame[] frames, int user, WalkEnd end) {
      this.frames = frames;
      this.user = user;
      this.end = end;
    }

    boolean isNamed() {
      for (int i = 0; !named && i < frames.length; i++) {
        if (frames[i].name == null) {
          return false;
        }
      }
      named = true;
      return true;
    }
  }

  /**
   * @param states rows of tasks in these states are written
   * @param header whether a line with the names of the columns stands first
   * @param reversed whether innermost frames are first
   */
  public XstackWriter(
      Writer out, StreamFacts facts, StateSet states, boolean header, boolean reversed) {
    this.out = out;
    this.states = states;
    this.reversed = reversed;
    wallOffset = facts.wallNanos() - facts.monotonicNanos();
    if (header) {
      put("timestamp|tid|tgid|comm|state|ustack|kstack\n");
    }
  }

  /** How many rows were written. */
  public long rows() {
    return rows;
  }

  @Override
  public void batchBegins(long time, int sequence, boolean endsPass, boolean more) {
    this.time = time;
    this.endsPass = endsPass;
  }

  @Override
  public void batchEnds() {
    if (endsPass) {
      tasks.values().forEach(this::see);
    }
    while (!waiting.isEmpty()) {
      Row row = waiting.element();
      if (row.stack != null && !row.stack.isNamed() && time - row.time < PATIENCE_NANOS) {
        break;
      }
      write(waiting.remove());
    }
  }

  private void see(Task task) {
    State state = task.state;
    Integer tgid = tgids.get(task.process);
    if (state != null && tgid != null && states.contains(state)) {
      waiting.add(new Row(time, task.tid, tgid, task.comm, state, task.stack));
    }
  }

  /** Writes the rows that still wait, and whatever a buffer holds. */
  public void end() {
    while (!waiting.isEmpty()) {
      write(waiting.remove());
    }
    try {
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void write(Row row) {
    String moment = TIME.format(Instant.ofEpochSecond(0, row.time + wallOffset));
    Stack stack = row.stack;
    String user = stack == null ? NONE : path(stack, 0, stack.user);
    String kernel = stack == null ? NONE : path(stack, stack.user, stack.frames.length);
    String task = row.tid + "|" + row.tgid + "|" + plain(row.comm) + "|" + row.state.letter();
    put(String.join("|", moment, task, user, kernel) + "\n");
    rows++;
  }

  private void put(String line) {
    try {
      out.write(line);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String path(Stack stack, int from, int to) {
    StringBuilder path = new StringBuilder();
    String reason = stack.end.reason();
    boolean cut = from == 0 && to > 0 && !reason.isEmpty();
    if (cut && !reversed) {
      path.append('[').append(reason).append(']');
    }
    for (int i = 0; i < to - from; i++) {
      Frame frame = stack.frames[reversed ? to - 1 - i : from + i];
      String name = frame.name == null ? frame.address : frame.name;
      if (!name.isEmpty()) {
        path.append(path.length() == 0 ? "" : ";").append(plain(name));
      }
    }
    if (cut && reversed) {
      path.append(path.length() == 0 ? "[" : ";[").append(reason).append(']');
    }
    return path.length() == 0 ? NONE : path.toString();
  }

  /** A name without what parts columns and frames. */
  private static String plain(String name) {
    return name.isEmpty() ? NONE : name.replace('|', ':').replace(';', ':');
  }

  @Override
  public void processSeen(
      int process,
      int tgid,
      long startBoottime,
      int execId,
      int uid,
      long cgroup,
      boolean kthread,
      String comm,
      String commandLine) {
    tgids.put(process, tgid);
  }

  @Override
  public void taskSeen(int task, int process, int tid, long start, boolean fresh, String comm) {
    Task seen = new Task(process, tid, comm);
    Task before = tasks.put(task, seen);
    if (before != null) {
      seen.state = before.state;
      seen.stack = before.stack;
    }
  }

  @Override
  public void taskGone(int task, long time, long run, long wait, boolean exact) {
    tasks.remove(task);
  }

  @Override
  public void moduleSeen(int module, ModuleKind kind, String path, String buildId) {
    String file = path.substring(path.lastIndexOf('/') + 1);
    modules.put(module, file.isEmpty() ? "[unknown]" : file);
  }

  @Override
  public void frameSeen(int frame, int module, long offset, boolean guessed) {
    String of = modules.getOrDefault(module, "[unknown]");
    frames.put(frame, new Frame(of + "+0x" + Long.toHexString(offset)));
  }

  @Override
  public void stackSeen(int stack, WalkEnd end, int user, int[] ids) {
    Frame[] of = new Frame[ids.length];
    for (int i = 0; i < ids.length; i++) {
      of[i] = frames.computeIfAbsent(ids[i], id -> new Frame("[unknown]"));
    }
    stacks.put(stack, new Stack(of, user, end));
  }

  @Override
  public void taskChanged(Head head) {
    Task task = tasks.get(head.task);
    if (task != null) {
      task.state = head.state;
      task.stack = head.stack < 0 ? null : stacks.get(head.stack);
    }
  }

  @Override
  public void name(int frame, NameSource source, String name) {
    Frame named = frames.get(frame);
    if (named != null) {
      named.name = name;
    }
  }

  @Override
  public void forgotten(IdSpace space, int[] ids) {
    for (int id : ids) {
      switch (space) {
        case PROCESS -> tgids.remove(id);
        case TASK -> tasks.remove(id);
        case MODULE -> modules.remove(id);
        case FRAME -> frames.remove(id);
        case STACK -> stacks.remove(id);
      }
    }
  }
}
