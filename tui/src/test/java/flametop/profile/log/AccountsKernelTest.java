package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.live.World;
import flametop.profile.tree.Options;
import flametop.sampler.Counter;
import flametop.sampler.Head;
import flametop.sampler.IdSpace;
import flametop.sampler.KernelSource;
import flametop.sampler.State;
import flametop.sampler.StreamReader;
import flametop.sampler.StreamVisitor;
import flametop.sampler.Target;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The accounts on the real kernel: each load's time is the wall clock of its threads, on a CPU as
 * long as the kernel says, and every identity holds at each batch.
 */
@Tag("kernel")
@Timeout(600)
class AccountsKernelTest {
  private static final long MS = World.MS;

  /** Of the loads of this run. */
  private static final String COMM = "loads-" + ProcessHandle.current().pid();

  @TempDir private static Path folder;
  private static File program;

  private final World world =
      new World(
          new Options(
              Shape.of(new Shape.Group(RootOrder.THREAD)), Options.DEFAULT_HISTORY_BYTES, false));
  private final StreamReader reader = new StreamReader(0, false);
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
  private final List<Life> lives = new ArrayList<>();

  /** By the id that a task has now. */
  private final Map<Integer, Life> alive = new HashMap<>();

  private final Map<Integer, Integer> tgids = new HashMap<>();
  private boolean more;

  /** One task of the stream. */
  private static final class Life {
    int tgid;
    int tid;
    String comm;
    boolean begun;
    boolean gone;
    boolean exact;
    long start;
    long run;
    long end;
    long lastRun;

    /** What was told of it, one a line: so one sees why its account is wrong. */
    final StringBuilder told = new StringBuilder();

    void begin(long time, long runSum) {
      if (!begun) {
        begun = true;
        start = time;
        run = runSum;
      }
    }

    void tell(Method method, Object[] args) {
      told.append("\n  ").append(method.getName()).append(' ').append(Arrays.toString(args));
    }
  }

  @BeforeAll
  static void compile() throws Exception {
    program = folder.resolve(COMM).toFile();
    Process compiler =
        new ProcessBuilder(
                "cc",
                "-O2",
                "-pthread",
                "-o",
                program.toString(),
                Path.of("src/test/programs/loads.c").toAbsolutePath().toString())
            .inheritIO()
            .start();
    assertEquals(0, compiler.waitFor());
  }

  @AfterAll
  static void remove() {
    assertTrue(program.delete());
  }

  private final StreamVisitor visitor =
      (StreamVisitor)
          Proxy.newProxyInstance(
              StreamVisitor.class.getClassLoader(),
              new Class<?>[] {StreamVisitor.class},
              (proxy, method, args) -> {
                note(method, args);
                return method.invoke(world.intake, args);
              });

  private void note(Method method, Object[] args) {
    switch (method.getName()) {
      case "batchBegins" -> {
        more = (boolean) args[3];
        if ((boolean) args[2]) {
          alive.values().forEach(l -> l.tell(method, args));
        }
      }
      case "processSeen" -> tgids.put((int) args[0], (int) args[1]);
      case "taskSeen" -> {
        Life life =
            alive.computeIfAbsent(
                (int) args[0],
                id -> {
                  lives.add(new Life());
                  return lives.get(lives.size() - 1);
                });
        life.tgid = tgids.get((int) args[1]);
        life.tid = (int) args[2];
        life.comm = (String) args[5];
        if ((boolean) args[4]) {
          life.begin((long) args[3], 0);
        }
        life.tell(method, args);
      }
      case "taskChanged", "cpuSample" -> {
        Head head = (Head) args[0];
        Life life = alive.get(head.task);
        life.begin(head.time, head.run);
        // A zombie may be seen before the end is told of.
        life.end = Math.max(life.end, head.time);
        life.tell(method, args);
      }
      case "taskGone" -> {
        Life life = alive.get((int) args[0]);
        life.begin((long) args[1], (long) args[2]);
        life.gone = true;
        life.end = Math.max(life.end, (long) args[1]);
        life.lastRun = (long) args[2];
        life.exact = (boolean) args[4];
        life.tell(method, args);
      }
      case "forgotten" -> {
        if (args[0] == IdSpace.TASK) {
          Arrays.stream((int[]) args[1]).forEach(alive::remove);
        }
      }
      default -> {}
    }
  }

  /** One pass with all its batches; after each, everything must add up. */
  private void fill(KernelSource source, boolean pass, long late) throws Exception {
    do {
      int length = source.fill(buffer, pass, late);
      reader.read(buffer.limit(length).position(0), visitor);
      buffer.clear();
      world.folds.forEach(f -> f.catchUp(Long.MAX_VALUE));
      if (!more) {
        world.check();
        identities(world.intake.counters());
      }
    } while (more);
  }

  private static void identities(long[] counters) {
    assertEquals(
        sum(counters, Counter.PASSES_DUE), sum(counters, Counter.PASSES_LATE, Counter.PASSES_MADE));
    assertEquals(
        sum(counters, Counter.TASK_PASSES),
        sum(
            counters,
            Counter.WRITTEN,
            Counter.UNCHANGED,
            Counter.ON_CPU,
            Counter.IDLE_KTHREADS,
            Counter.FAILED_MM_BUSY,
            Counter.FAILED_TORN,
            Counter.FAILED_FAULTED,
            Counter.FAILED_EXITED));
    assertEquals(
        sum(counters, Counter.CPU_SAMPLES),
        sum(
            counters,
            Counter.CPU_PLACED,
            Counter.CPU_FAILED,
            Counter.CPU_DROPPED,
            Counter.CPU_WAITING));
  }

  private static long sum(long[] counters, Counter... which) {
    long sum = 0;
    for (Counter counter : which) {
      sum += counters[counter.ordinal()];
    }
    return sum;
  }

  private boolean over(List<Life> tasks) {
    return !tasks.isEmpty() && tasks.stream().allMatch(l -> l.gone);
  }

  private List<Life> loads() {
    return lives.stream().filter(l -> COMM.equals(l.comm)).toList();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "migrate",
        "brief",
        "execs 10",
        "vfork",
        "fork",
        "thread-exec",
        "stopped",
        "traced"
      })
  void load_any_isAccountedForAsTheKernelDoes(String kind) throws Exception {
    hold(kind, 19, 0);
  }

  @Test
  void load_passesTwoSecondsLate_isAccountedForAsTheKernelDoes() throws Exception {
    hold("execs 40", 19, 38);
  }

  private void hold(String kind, int hz, int lateOnce) throws Exception {
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(List.of(kind.split(" ")));
    Map<Integer, Long> cpu = new HashMap<>();
    try (KernelSource source = KernelSource.open(Target.ALL, hz, 99, true, "")) {
      fill(source, true, 0);
      Process load = new ProcessBuilder(command).redirectErrorStream(true).start();
      try {
        long late = lateOnce;
        // The end of a child, or of a thread, may be told after that of who waited for it.
        while (load.isAlive() || !over(loads()) || !allTold(readCpu(load, cpu))) {
          // The pace does not matter to the accounts.
          TimeUnit.MILLISECONDS.sleep(1000 / hz + late * 1000 / hz);
          fill(source, true, late);
          late = 0;
        }
      } finally {
        load.destroyForcibly();
      }
    }
    Map<Integer, Map<String, Long>> accounts = accounts();
    Map<Integer, List<Life>> threads = loads().stream().collect(Collectors.groupingBy(l -> l.tid));
    Map<Integer, Long> ran = ran();
    for (Map.Entry<Integer, List<Life>> thread : threads.entrySet()) {
      long run = 0;
      long wall = 0;
      StringBuilder told = new StringBuilder();
      for (Life life : thread.getValue()) {
        told.append(life.told);
        assertTrue(life.exact, kind + ": tid " + life.tid + " has its last sums" + told);
        run += life.lastRun - life.run;
        wall += life.end - life.start;
      }
      Map<String, Long> account = accounts.getOrDefault(thread.getKey(), Map.of());
      assertEquals(run, account.getOrDefault("run", 0L), kind + ": RUN of " + thread.getKey());
      long all = account.values().stream().mapToLong(Long::longValue).sum();
      // A tick at either end.
      long ticks = thread.getValue().size() * 2L * Accounts.TICK_NANOS;
      assertTrue(
          Math.abs(all - wall) <= ticks,
          kind + ": tid " + thread.getKey() + " lived " + wall + " ns and has " + account + told);
    }
    assertEquals(cpu.keySet(), ran.keySet(), kind);
    for (Map.Entry<Integer, Long> process : cpu.entrySet()) {
      long own = process.getValue();
      long seen = ran.get(process.getKey());
      // It runs on after its own last look at the clock.
      assertTrue(
          seen >= least(own) && seen <= own + own / 20 + 30 * MS,
          kind + ": pid " + process.getKey() + " ran " + own + " ns by its clock, " + seen);
    }
  }

  /** ns on a CPU by process. */
  private Map<Integer, Long> ran() {
    return loads().stream()
        .collect(
            Collectors.groupingBy(l -> l.tgid, Collectors.summingLong(l -> l.lastRun - l.run)));
  }

  /** Whether the tasks told of make up what the processes ran. */
  private boolean allTold(Map<Integer, Long> cpu) {
    Map<Integer, Long> ran = ran();
    return cpu.entrySet().stream()
        .allMatch(p -> ran.getOrDefault(p.getKey(), 0L) >= least(p.getValue()));
  }

  private static long least(long own) {
    return own - own / 100;
  }

  /** Adds what the load, which ended, printed. */
  private static Map<Integer, Long> readCpu(Process load, Map<Integer, Long> cpu)
      throws IOException {
    String out =
        new String(load.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
    for (String line : out.lines().toList()) {
      String[] words = line.split(" ");
      assertEquals("cpu", words[0], out);
      cpu.put(Integer.valueOf(words[1]), Long.valueOf(words[2]));
    }
    return cpu;
  }

  /** ns by tid and state. */
  private Map<Integer, Map<String, Long>> accounts() {
    Map<Integer, Map<String, Long>> all = new HashMap<>();
    for (State state : State.values()) {
      for (FoldedStack stack :
          world.reader(world.fold(), Long.MAX_VALUE).folded(StateSet.of(state), 0, false)) {
        String thread = stack.names()[1];
        int tid = Integer.parseInt(thread.substring(thread.lastIndexOf('-') + 1));
        assertTrue(stack.value() >= 0, () -> String.join(";", stack.names()));
        all.computeIfAbsent(tid, t -> new HashMap<>())
            .merge(state.toString(), stack.value(), Long::sum);
      }
    }
    return all;
  }
}
