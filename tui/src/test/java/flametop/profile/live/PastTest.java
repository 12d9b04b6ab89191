package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.log.ChangeLog;
import flametop.sampler.IdSpace;
import flametop.sampler.NameSource;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** An hour and more of a known load: what is left of each minute. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
// All times are of two hours at most, in ms and small products.
@SuppressWarnings({"IntLongMath", "LongDoubleConversion", "NarrowCalculation"})
class PastTest {
  private static final long MS = World.MS;
  private static final long SECOND = 1_000 * MS;
  private static final long MINUTE = 60 * SECOND;
  private static final int STEP_MS = 100;
  private static final int STEPS_A_MINUTE = 60_000 / STEP_MS;

  /** The first batch, ms; no batch comes on a full second. */
  private static final long BEGIN_MS = 60_000 + 25;

  private static final int RUN = State.RUN.ordinal();

  /** Threads that run, wait and sleep on stacks, by chance, and what they did in each minute. */
  private static final class Load {
    static final int TASKS = 8;
    static final int STACKS = 24;

    final World world;
    final Random random;
    final long[] run = new long[TASKS];
    final long[] seen = new long[TASKS];

    /** ns of CPU by minute and task. */
    final long[][] ran;

    /** Samples of the CPU clock by minute and stack. */
    final int[][] samples;

    int step;

    Load(World world, int minutes, long seed) {
      this.world = world;
      random = new Random(seed);
      ran = new long[minutes + 2][TASKS];
      samples = new int[minutes + 2][STACKS];
    }

    long time() {
      return BEGIN_MS + (long) STEP_MS * step;
    }

    int minute() {
      return (int) (time() / 60_000);
    }

    void begin() {
      world.begin(time(), true);
      for (int p = 0; p < 8; p++) {
        world.process(p, 100 + p, "app" + p % 3);
      }
      for (int t = 0; t < TASKS; t++) {
        world.task(t, t % 8, 1_000 + t, 0, false, "thread" + t % 4);
      }
      for (int s = 0; s < STACKS; s++) {
        world.named("main", "part" + s % 5, "work" + s);
      }
      for (int t = 0; t < TASKS; t++) {
        world.changed(time(), t, t, 0, 0, 0, State.SLEEP);
        seen[t] = time();
      }
      world.end();
      step++;
    }

    void step() {
      world.begin(time(), true);
      for (int i = 0; i < 4; i++) {
        int task = random.nextInt(TASKS);
        runs(task, 0);
        boolean disk = random.nextInt(4) == 0;
        world.changed(
            time(), task, stack(task), run[task], 0, step, disk ? State.DISK : State.SLEEP);
      }
      for (int i = 0; i < 2; i++) {
        int task = random.nextInt(TASKS);
        runs(task, 1);
        int stack = stack(task);
        world.sample(time(), task, stack, run[task], 0, step + 1_000_000L * i);
        samples[minute()][stack]++;
      }
      world.end();
      step++;
    }

    /** Each task has stacks of its own. */
    private int stack(int task) {
      return task + TASKS * random.nextInt(STACKS / TASKS);
    }

    private void runs(int task, int least) {
      long more = least + random.nextInt((int) Math.min(40, 1 + time() - seen[task]));
      run[task] += more;
      seen[task] = time();
      ran[minute()][task] += more * MS;
    }
  }

  private static final int MINUTES = 75;

  /** All in full. */
  private final World whole = new World(Shape.PLAIN, 1L << 30);

  /** 2 MiB in full, half a one more of sums. */
  private final World bounded = new World(Shape.PLAIN, 2L << 20);

  private final Load load = new Load(bounded, MINUTES, 1);
  private long most;

  @BeforeAll
  void run() {
    Load other = new Load(whole, MINUTES, 1);
    load.begin();
    other.begin();
    while (load.step < MINUTES * STEPS_A_MINUTE) {
      load.step();
      other.step();
      most = Math.max(most, bounded.log.bytes());
    }
  }

  private static GraphReader range(LogFold fold, long from, long to) {
    fold.hold(to);
    assertTrue(fold.range(from, Long.MAX_VALUE));
    return new GraphReader(fold);
  }

  /** ns on CPUs in the window of a fold. */
  private static long ran(LogFold fold) {
    return fold.trie.weight(0, 1 << RUN);
  }

  private static Map<String, Long> folded(GraphReader reader, boolean samples) {
    Map<String, Long> map = new TreeMap<>();
    for (FoldedStack f : reader.folded(StateSet.ALL, 0, samples)) {
      map.merge(String.join(";", f.names()), f.value(), Long::sum);
    }
    return map;
  }

  @Test
  void anHour_boundedMemory_isFullThenSecondsThenTensThenOneSum() {
    assertTrue(2 * most <= 5 << 20, "bytes=" + most);
    long now = load.time() * MS;
    long full = now - bounded.log.compactedTo();
    assertTrue(full > 5 * MINUTE && full < 60 * MINUTE, "full=" + full / SECOND + " s");
    long parted = now - bounded.log.summedTo();
    assertTrue(parted >= 60 * MINUTE && parted < 63 * MINUTE, "parted=" + parted / SECOND + " s");
    assertEquals(ChangeLog.ALL, bounded.log.step(2 * MINUTE, 3 * MINUTE));
    assertEquals(10 * SECOND, bounded.log.step(now - 55 * MINUTE, now - 54 * MINUTE));
    assertEquals(SECOND, bounded.log.step(now - full - 20 * SECOND, now - full - 10 * SECOND));
    assertEquals(ChangeLog.FULL, bounded.log.step(now - MINUTE, now));
  }

  @Test
  void eachMinuteOfAnHour_ofSums_isThatOfTheRecordingToTheUnit() {
    LogFold sums = bounded.fold();
    LogFold all = whole.fold();
    int last = load.minute() - 1;
    for (int minute = last; minute > last - 60; minute--) {
      String where = "minute=" + minute + " of " + last;
      long from = minute * MINUTE;
      GraphReader expected = range(all, from, from + MINUTE);
      GraphReader actual = range(sums, from, from + MINUTE);
      assertTrue(Math.abs(sums.window().headTime() - from - MINUTE) < SECOND / 10, where);
      assertTrue(Math.abs(sums.window().tailTime() - from) < SECOND / 10, where);
      assertEquals(folded(expected, true), folded(actual, true), where);
      assertEquals(folded(expected, false), folded(actual, false), where);
      assertEquals(LongStream.of(load.ran[minute]).sum(), ran(sums), where);
      long clock = 0;
      for (FoldedStack f : actual.folded(StateSet.of(State.RUN), 0, true)) {
        clock += f.value();
      }
      assertEquals(IntStream.of(load.samples[minute]).sum(), clock, where);
    }
    sums.hold(Long.MAX_VALUE);
    sums.catchUp(Long.MAX_VALUE);
    all.hold(Long.MAX_VALUE);
    all.catchUp(Long.MAX_VALUE);
  }

  @Test
  void eachMinuteOfAnHour_filteredAndGrouped_isThatOfTheRecording() {
    Shape[] shapes = {
      Shape.of(new Shape.Processes(Set.of(101, 104), false)),
      Shape.of(new Shape.Group(RootOrder.THREAD)),
      Shape.of(new Shape.Comms(Set.of("app1"), false))
    };
    int last = load.minute() - 1;
    for (Shape shape : shapes) {
      LogFold sums = bounded.fold(shape);
      LogFold all = whole.fold(shape);
      for (int minute = last - 59; minute <= last; minute += 7) {
        long from = minute * MINUTE;
        GraphReader expected = range(all, from, from + MINUTE);
        GraphReader actual = range(sums, from, from + MINUTE);
        assertEquals(folded(expected, false), folded(actual, false), shape + " minute=" + minute);
      }
      bounded.drop(sums);
      whole.drop(all);
    }
  }

  @Test
  void aSecond_amidSumsOfTen_isShownAsTheTenAroundIt() {
    LogFold fold = bounded.fold(Shape.PLAIN);
    long now = load.time() * MS;
    long from = (now - 50 * MINUTE) / SECOND * SECOND;
    GraphReader reader = range(fold, from, from + SECOND);
    assertTrue(ran(fold) > 0);
    assertTrue(
        fold.window().tailTime() <= from && fold.window().headTime() >= from + SECOND - 100 * MS);
    assertTrue(fold.covered() <= 10 * SECOND, "covered=" + fold.covered());
    assertTrue(!folded(reader, false).isEmpty());
    bounded.drop(fold);
  }

  @Test
  void aMinute_beforeTheHour_isShownAsTheOneSum() {
    LogFold fold = bounded.fold(Shape.PLAIN);
    GraphReader reader = range(fold, 4 * MINUTE, 5 * MINUTE);
    assertEquals(bounded.log.summedTo(), fold.window().headTime());
    assertTrue(!folded(reader, false).isEmpty());
    // And back to the present.
    fold.hold(Long.MAX_VALUE);
    fold.catchUp(Long.MAX_VALUE);
    fold.window(30 * SECOND, Long.MAX_VALUE);
    assertTrue(fold.covered() >= 30 * SECOND && fold.covered() < 31 * SECOND);
    bounded.drop(fold);
  }

  @Test
  void window_ofTheLastMinutesAndAll_isThatOfTheRecording() {
    assertEquals(whole.samples(whole.fold()), bounded.samples(bounded.fold()));
    assertEquals(whole.folded(whole.fold(), MINUTE), bounded.folded(bounded.fold(), MINUTE));
  }

  /** A build: 28 processes a second, each with a stack of its own. */
  @Test
  void anHourOfAHundredThousandProcesses_staysWithinItsMemoryAndLosesNoTime() {
    World world = new World(Shape.PLAIN, 8L << 20);
    long[] ran = new long[64];
    int ids = 0;
    long kept = 0;
    long bytes = 0;
    long all = 0;
    for (int step = 0; step < 62 * STEPS_A_MINUTE; step++) {
      long time = BEGIN_MS + (long) STEP_MS * step;
      int first = ids;
      int count = step % 10 < 8 ? 3 : 2;
      world.batch(time, true, () -> build(world, time, first, count));
      ids += count;
      ran[(int) (time / 60_000)] += count * 30 * MS;
      all += count * 30 * MS;
      if (step % 200 == 0) {
        world.sweep();
        if (world.fold().trie.mostlyEmpty(1_000)) {
          world.drop(world.fold());
          world.caughtUp(Shape.PLAIN);
        }
        kept = world.owners.bytes() + world.stacks.bytes() + world.fold().trie.bytes();
        world.log.share(kept);
      }
      bytes = Math.max(bytes, world.log.bytes());
    }
    assertTrue(ids > 100_000, "processes=" + ids);
    assertTrue(bytes <= 10 << 20, "bytes=" + bytes);
    String parts =
        world.owners.bytes() + " " + world.stacks.bytes() + " " + world.fold().trie.bytes();
    assertTrue(kept < 40 << 20, "kept=" + kept + " of " + parts);
    LogFold fold = world.caughtUp(Shape.PLAIN);
    assertEquals(all, ran(fold));
    for (int minute = 5; minute < 62; minute += 8) {
      long from = minute * MINUTE;
      range(fold, from, from + MINUTE);
      assertEquals(ran[minute], ran(fold), "minute=" + minute);
    }
  }

  private static void build(World world, long time, int first, int count) {
    for (int i = first; i < first + count; i++) {
      int id = i % 512;
      if (i >= 512) {
        world.intake.forgotten(IdSpace.TASK, new int[] {id});
        world.intake.forgotten(IdSpace.PROCESS, new int[] {id});
      }
      world.process(id, 1_000 + i, "cc" + i % 7);
      world.task(id, id, 1_000 + i, time - 40, true, "cc" + i % 7);
      int stack = i % 2_000;
      if (i >= 2_000) {
        world.intake.forgotten(IdSpace.STACK, new int[] {stack});
      }
      int[] frames = {0, 1 + i % 50, 60 + i % 940, 1_000 + i % 997};
      for (int frame : frames) {
        if (i < 2_000) {
          world.intake.frameSeen(frame, 1, 0x1000 + frame, false);
          world.intake.name(frame, NameSource.SYMBOL, "f" + frame);
        }
      }
      world.intake.stackSeen(stack, WalkEnd.ROOT, frames.length, frames);
      world.sample(time - 1, id, stack, 20, 0, 1);
      world.intake.taskGone(id, time * MS, 30 * MS, 0, true);
    }
  }

  /** The machine slept, or a recording has a gap: sums of the time before are as good as before. */
  @Test
  void clockThatJumpsAhead_history_isFoundOnBothSides() {
    World world = new World(Shape.PLAIN, 400_000);
    Load before = new Load(world, 200, 3);
    before.begin();
    for (int step = 0; step < 10 * STEPS_A_MINUTE; step++) {
      before.step();
    }
    int minute = before.minute() - 8;
    before.step += 30 * STEPS_A_MINUTE;
    for (int step = 0; step < STEPS_A_MINUTE; step++) {
      before.step();
    }
    LogFold fold = world.fold(Shape.PLAIN);
    range(fold, minute * MINUTE, (minute + 1) * MINUTE);
    assertEquals(LongStream.of(before.ran[minute]).sum(), ran(fold));
    // Within the gap is the gap: the sleepers of it.
    range(fold, (minute + 10) * MINUTE, (minute + 11) * MINUTE);
    assertTrue(fold.window().headTime() >= fold.window().tailTime());
    world.check();
  }

  /** A batch with the time of one before: as none came from then to now. */
  @Test
  void clockThatStepsBack_history_goesOnAtTheLatestTime() {
    World world = new World(Shape.PLAIN, 200_000);
    Load steps = new Load(world, 20, 4);
    steps.begin();
    for (int step = 0; step < 2 * STEPS_A_MINUTE; step++) {
      steps.step();
      if (step % 100 == 0) {
        world.batch(steps.time() - 5_000, true, () -> {});
      }
    }
    world.check();
    long sum = Arrays.stream(steps.ran).flatMapToLong(LongStream::of).sum();
    assertEquals(sum, ran(world.caughtUp(Shape.PLAIN)));
  }
}
