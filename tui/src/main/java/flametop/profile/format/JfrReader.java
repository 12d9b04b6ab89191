package flametop.profile.format;

import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import flametop.sampler.State;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.jspecify.annotations.Nullable;

/**
 * Reads recordings of Java Flight Recorder, by the reader of the JDK, which needs a file: of a pipe
 * or of packed data a copy is made. Threads are the outermost frames, by their names, with their
 * numbers and states. Samples of methods, allocations, waits for locks and other waits are measures
 * of their own.
 */
final class JfrReader implements ProfileReader {
  /** Most bytes of a copy: a recording that is larger is given as a file. */
  private static final long MOST_COPIED = 4L << 30;

  /** What an event counts as. */
  private enum Kind {
    EXECUTION("execution", "samples"),
    CPU("cpu time", "samples"),
    WALL("wall", "samples"),
    ALLOCATION("allocation", "bytes"),
    LOCK("lock", "ns"),
    WAIT("wait", "ns");

    private final String title;
    private final String unit;

    Kind(String title, String unit) {
      this.title = title;
      this.unit = unit;
    }

    static @Nullable Kind of(String event) {
      return switch (event) {
        case "jdk.ExecutionSample", "jdk.NativeMethodSample" -> EXECUTION;
        case "jdk.CPUTimeSample" -> CPU;
        case "profiler.WallClockSample" -> WALL;
        case "jdk.ObjectAllocationSample",
            "jdk.ObjectAllocationInNewTLAB",
            "jdk.ObjectAllocationOutsideTLAB" ->
            ALLOCATION;
        case "jdk.JavaMonitorEnter" -> LOCK;
        case "jdk.ThreadPark", "jdk.JavaMonitorWait", "jdk.ThreadSleep" -> WAIT;
        default -> null;
      };
    }
  }

  /** A frame as the sink knows it. */
  private record Frame(String name, NodeKind kind, Place place) {}

  private final Remembered<Frame> frames = new Remembered<>();
  private final Remembered<Owner> owners = new Remembered<>();
  private final int[] measures = new int[Kind.values().length];
  private int[] path = new int[128];
  private long withoutStack;

  @Override
  public void read(Source source, StackSink to) throws IOException {
    Arrays.fill(measures, -1);
    to.owners();
    if (source.file() != null) {
      events(source.file(), to);
      return;
    }
    Path copy = Files.createTempFile("flametop", ".jfr");
    try {
      copy(source.stream(), copy);
      events(copy, to);
    } finally {
      Files.deleteIfExists(copy);
    }
  }

  private static void copy(InputStream from, Path to) throws IOException {
    try (OutputStream out = Files.newOutputStream(to)) {
      byte[] buffer = new byte[1 << 16];
      long copied = 0;
      for (int count; (count = from.read(buffer, 0, buffer.length)) >= 0; copied += count) {
        if (copied > MOST_COPIED) {
          throw new IOException(
              "it is larger than " + (MOST_COPIED >> 30) + " GiB; unpack it into a file");
        }
        out.write(buffer, 0, count);
      }
    }
  }

  private void events(Path file, StackSink to) throws IOException {
    kinds(file, to);
    try (RecordingFile recording = new RecordingFile(file)) {
      while (recording.hasMoreEvents()) {
        event(recording.readEvent(), to);
      }
    } catch (EOFException e) {
      throw new IOException("it ends too early", e);
    } catch (IOException e) {
      throw new IOException("damaged data of Java Flight Recorder", e);
    } catch (RuntimeException | StackOverflowError e) {
      // The JDK's reader fails in ways of its own where data is damaged.
      throw new IOException("damaged data of Java Flight Recorder", e);
    } finally {
      to.note(withoutStack, "events have no stack: [no stack]");
    }
  }

  /**
   * Names the measures before any stack, up to the one that is shown first: a stack of another must
   * not be taken for the shown one before that is known.
   */
  private void kinds(Path file, StackSink to) {
    try (RecordingFile recording = new RecordingFile(file)) {
      while (measures[Kind.EXECUTION.ordinal()] < 0 && recording.hasMoreEvents()) {
        Kind kind = Kind.of(recording.readEvent().getEventType().getName());
        if (kind != null) {
          int unused = measure(kind, to);
        }
      }
    } catch (IOException | RuntimeException | StackOverflowError e) {
      // Whoever reads the stacks fails at the same place, and says so.
      return;
    }
  }

  private int measure(Kind kind, StackSink to) {
    int number = kind.ordinal();
    if (measures[number] < 0) {
      boolean shown = kind == Kind.EXECUTION;
      measures[number] = to.measure(kind.title, Unit.whole(kind.unit), shown);
    }
    return measures[number];
  }

  private void event(RecordedEvent event, StackSink to) {
    Kind kind = Kind.of(event.getEventType().getName());
    if (kind == null) {
      return;
    }
    int measure = measure(kind, to);
    if (!to.wants(measure)) {
      return;
    }
    int depth = 0;
    path[depth++] = owner(event, kind, to);
    RecordedStackTrace stack = event.getStackTrace();
    List<RecordedFrame> called = stack == null ? List.of() : stack.getFrames();
    if (called.isEmpty()) {
      withoutStack++;
      path[depth++] = frame("[no stack]", NodeKind.REASON, 0, to);
    } else if (stack != null && stack.isTruncated()) {
      path[depth++] = frame("[truncated]", NodeKind.REASON, 0, to);
    }
    if (depth + called.size() > path.length) {
      path = Arrays.copyOf(path, 2 * (depth + called.size()));
    }
    for (int i = called.size() - 1; i >= 0; i--) {
      path[depth++] = frame(called.get(i), to);
    }
    to.stack(measure, path, 0, depth, value(kind, event));
  }

  private static long value(Kind kind, RecordedEvent event) {
    return switch (kind) {
      case EXECUTION, CPU -> 1;
      case WALL -> event.hasField("samples") ? event.getLong("samples") : 1;
      case ALLOCATION ->
          event.hasField("weight")
              ? event.getLong("weight")
              : event.hasField("tlabSize")
                  ? event.getLong("tlabSize")
                  : event.hasField("allocationSize") ? event.getLong("allocationSize") : 0;
      case LOCK, WAIT -> event.getDuration().toNanos();
    };
  }

  private int owner(RecordedEvent event, Kind kind, StackSink to) {
    RecordedThread thread =
        event.hasField("sampledThread") ? event.getThread("sampledThread") : event.getThread();
    String name = thread == null ? "" : thread.getJavaName();
    if (thread != null && (name == null || name.isEmpty())) {
      name = thread.getOSName();
    }
    String text = name == null || name.isEmpty() ? "[unknown thread]" : name;
    long id = thread == null ? 0 : Math.max(0, thread.getOSThreadId());
    int tid = id <= Integer.MAX_VALUE ? (int) id : 0;
    Owner owner = new Owner(text, 0, thread == null ? "" : text, tid, "", state(event, kind));
    return owners.of(owner, to::owner);
  }

  /** The state that an event says, or that its kind means; null if neither does. */
  private static @Nullable State state(RecordedEvent event, Kind kind) {
    if (kind == Kind.LOCK || kind == Kind.WAIT) {
      return State.SLEEP;
    }
    if (!event.hasField("state")) {
      return kind == Kind.CPU ? State.RUN : null;
    }
    return switch (String.valueOf(event.<Object>getValue("state"))) {
      case "STATE_RUNNABLE" -> State.RUN;
      case "STATE_SLEEPING",
          "STATE_IN_OBJECT_WAIT",
          "STATE_IN_OBJECT_WAIT_TIMED",
          "STATE_PARKED",
          "STATE_PARKED_TIMED",
          "STATE_BLOCKED_ON_MONITOR_ENTER" ->
          State.SLEEP;
      default -> null;
    };
  }

  private int frame(RecordedFrame of, StackSink to) {
    RecordedMethod method = of.getMethod();
    if (method == null) {
      return frame("[unknown method]", NodeKind.UNKNOWN, 0, to);
    }
    RecordedClass type = method.getType();
    String in = type == null || type.getName() == null ? "" : type.getName();
    String name = in.isEmpty() ? method.getName() : in + "." + method.getName();
    // Of async-profiler, which has frames of the kernel and of libraries, too.
    String kind = of.getType() == null ? "" : of.getType();
    return switch (kind) {
      case "Kernel" -> frame(name, NodeKind.KERNEL, 0, to);
      case "Native", "C++" -> frame(name, NodeKind.USER, 0, to);
      // One method is one frame, however it runs.
      default -> frame(name, NodeKind.JIT, of.getLineNumber(), to);
    };
  }

  private int frame(String name, NodeKind kind, int line, StackSink to) {
    Frame frame = new Frame(name, kind, Place.of("", line, 0));
    return frames.of(frame, of -> to.frame(of.kind, of.name, "", of.place));
  }
}
