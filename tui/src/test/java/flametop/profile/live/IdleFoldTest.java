package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Idle threads are one frame, and their time is the same with the frame and without. */
final class IdleFoldTest {
  private static final String[] EPOLL = {
    "main", "loop", "epoll_wait", "ep_poll_[k]", "schedule_[k]"
  };
  private static final String[] LOCK = {"main", "take", "pthread_mutex_lock", "futex_do_wait_[k]"};

  /** The two as they are shown. */
  private static final String OPEN = "app;main;loop;epoll_wait;ep_poll;schedule";

  private static final String LOCKED = "app;main;take;pthread_mutex_lock;futex_do_wait";

  private static final Shape SHOWN = Shape.of(new Shape.ShowIdle());

  private final World world = new World(Options.ofScreen(Shape.PLAIN, 64 << 20));
  private final LogFold shown = world.fold(SHOWN);

  @AfterEach
  void sumsAreWhole() {
    world.check();
    assertEquals(world.total(shown), world.total(world.fold()));
  }

  private Map<String, Long> folded() {
    return world.folded(world.fold());
  }

  /** Two tasks of one process, as yet without a sight. */
  private void tasks() {
    world.process(1, 100, "app");
    world.task(1, 1, 100, 0, true, "app");
    world.task(2, 1, 101, 0, true, "app");
  }

  /** A pass at a time at which nothing changed. */
  private void quiet(double time) {
    world.batch(time, true, () -> {});
  }

  private void seen(double time, int task, int stack, double run, long switches, State state) {
    world.batch(time, true, () -> world.changed(time, task, stack, run, 0, switches, state));
  }

  /** A pass at 100 ms that sees each of the two tasks asleep in a stack. */
  private void bothAsleep(int first, int second) {
    world.begin(100, true);
    world.changed(100, 1, first, 0, 0, 1, State.SLEEP);
    world.changed(100, 2, second, 0, 0, 1, State.SLEEP);
    world.end();
  }

  @Test
  void fold_aSleeperInAWaitForWork_isIdleBelowItsProcess() {
    tasks();
    int epoll = world.named(EPOLL);
    seen(100, 1, epoll, 20, 1, State.SLEEP);
    quiet(200);
    quiet(300);
    assertEquals(Map.of("app;[not sampled]", 20L, "app;[idle]", 280L), folded());
    assertEquals(Map.of("app;[not sampled]", 20L, OPEN, 280L), world.folded(shown));
  }

  @Test
  void fold_aWaitForALock_staysAsItIs() {
    tasks();
    int lock = world.named(LOCK);
    int epoll = world.named(EPOLL);
    bothAsleep(lock, epoll);
    quiet(200);
    quiet(300);
    assertEquals(Map.of(LOCKED, 300L, "app;[idle]", 300L), folded());
  }

  @Test
  void fold_otherStatesOnTheSameStack_stayAsTheyAre() {
    tasks();
    int epoll = world.named(EPOLL);
    seen(100, 1, epoll, 0, 1, State.SLEEP);
    quiet(200);
    seen(300, 1, epoll, 0, 2, State.DISK);
    quiet(400);
    seen(500, 1, epoll, 0, 3, State.QUEUED);
    quiet(600);
    Map<String, Long> folded = folded();
    Map<String, Long> disk = world.folded(StateSet.of(State.DISK, State.QUEUED));
    assertTrue(disk.containsKey(OPEN), disk.toString());
    assertEquals(disk.get(OPEN), folded.get(OPEN));
    assertTrue(folded.get("app;[idle]") >= 100, folded.toString());
  }

  @Test
  void fold_staysThatNoTwoPassesSaw_areNoIdleTime() {
    tasks();
    int epoll = world.named(EPOLL);
    for (int i = 1; i <= 5; i++) {
      seen(100 * i, 1, epoll, i, i, State.SLEEP);
    }
    seen(600, 1, epoll, 6, 6, State.RUN);
    assertTrue(folded().containsKey(OPEN), folded().toString());
    assertTrue(!folded().containsKey("app;[idle]"));
    seen(700, 1, epoll, 7, 7, State.SLEEP);
    quiet(800);
    assertTrue(!folded().containsKey(OPEN), folded().toString());
    assertTrue(folded().containsKey("app;[idle]"));
    assertEquals(folded(), again());
  }

  /** The whole log folded anew. */
  private Map<String, Long> again() {
    return world.folded(world.caughtUp(Shape.PLAIN));
  }

  @Test
  void fold_namesComeLate_isJudgedByThem() {
    tasks();
    int epoll = world.stack(WalkEnd.ROOT, EPOLL);
    int lock = world.stack(WalkEnd.ROOT, LOCK);
    bothAsleep(epoll, lock);
    quiet(200);
    assertEquals(Map.of("app;[naming]", 400L), folded());
    // Without names nothing proves a wait for work.
    quiet(1_200);
    assertTrue(!folded().containsKey("app;[idle]"));
    world.batch(1_300, true, world::nameAll);
    assertEquals(Map.of("app;[idle]", 1_300L, LOCKED, 1_300L), folded());
    assertEquals(folded(), again());
  }

  @Test
  void fold_aRangeOfThePast_foldsTheSameThreads() {
    tasks();
    int epoll = world.named(EPOLL);
    int lock = world.named(LOCK);
    seen(100, 1, epoll, 0, 1, State.SLEEP);
    for (int i = 2; i < 30; i++) {
      seen(100 * i, 2, lock, 100 * i, 1, State.RUN);
    }
    seen(3_000, 1, lock, 10, 2, State.SLEEP);
    quiet(4_000);
    for (LogFold fold : new LogFold[] {world.fold(), shown}) {
      fold.hold(World.ns(900));
      fold.range(World.ns(400), Long.MAX_VALUE);
    }
    assertEquals(
        shown.trie.weight(0, StateSet.ALL.bits()),
        world.fold().trie.weight(0, StateSet.ALL.bits()));
    Map<String, Long> folded = new TreeMap<>();
    new GraphReader(world.fold())
        .folded(StateSet.of(State.SLEEP), 0, false)
        .forEach(stack -> folded.put(String.join(";", stack.names()), stack.value() / World.MS));
    assertEquals(Map.of("app;[idle]", 500L), folded);
  }

  @Test
  void fold_withoutTheFrameOfIdleThreads_leavesTheRest() {
    tasks();
    int epoll = world.named(EPOLL);
    int lock = world.named(LOCK);
    seen(100, 1, epoll, 0, 1, State.SLEEP);
    seen(200, 2, lock, 0, 1, State.SLEEP);
    quiet(300);
    Function idle = new Function(NodeKind.IDLE, "", "[idle]");
    LogFold rest = world.caughtUp(Shape.of(new Shape.Through(idle, true)));
    assertEquals(Set.of(LOCKED), world.folded(rest).keySet());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6})
  void fold_randomHistory_keepsTheTimeOfEachProcess(long seed) {
    Random random = new Random(seed);
    for (int task = 0; task < 6; task++) {
      world.process(task / 2, 100 + task / 2, "app" + task / 2);
      world.task(task, task / 2, 200 + task, 0, true, "app" + task / 2);
    }
    int[] stacks = {
      world.named(EPOLL),
      world.named(LOCK),
      world.stack(WalkEnd.ROOT, "main", "late", "epoll_wait", "ep_poll_[k]"),
      world.named("main", "work")
    };
    State[] states = {State.SLEEP, State.SLEEP, State.DISK, State.QUEUED, State.RUN};
    double[] run = new double[6];
    double[] wait = new double[6];
    long[] switches = new long[6];
    for (int pass = 1; pass <= 200; pass++) {
      double time = 50 * pass;
      boolean names = pass == 100;
      world.begin(time, true);
      for (int task = 0; task < 6; task++) {
        if (random.nextInt(4) == 0) {
          run[task] += random.nextInt(20);
          wait[task] += random.nextInt(5);
          switches[task]++;
          world.changed(
              time,
              task,
              stacks[random.nextInt(stacks.length)],
              run[task],
              wait[task],
              switches[task],
              states[random.nextInt(states.length)]);
        }
      }
      if (names) {
        world.nameAll();
      }
      world.end();
      if (pass % 40 == 0) {
        world.check();
        for (long window : new long[] {World.ns(700), Long.MAX_VALUE}) {
          assertEquals(byProcess(shown, window), byProcess(world.fold(), window));
        }
      }
    }
    assertTrue(folded().keySet().stream().anyMatch(path -> path.endsWith("[idle]")));
    assertEquals(folded(), again());
  }

  /**
   * ns by process: on a CPU, queued, off the CPU. Time off the CPU is parted into states by the
   * samples, to a nanosecond.
   */
  private Map<String, Long> byProcess(LogFold fold, long window) {
    Map<String, Long> sums = new TreeMap<>();
    for (StateSet states :
        new StateSet[] {StateSet.ON_CPU, StateSet.of(State.QUEUED), StateSet.BLOCKED}) {
      world
          .reader(fold, window)
          .folded(states, 0, false)
          .forEach(stack -> sums.merge(stack.names()[0] + " " + states, stack.value(), Long::sum));
    }
    return sums;
  }

  @Test
  void fold_optionsOfARecording_leaveAllStacksAsTheyAre() {
    World recording = new World(new Options(Shape.PLAIN, 64 << 20, false));
    recording.process(1, 100, "app");
    recording.task(1, 1, 100, 0, true, "app");
    int epoll = recording.named(EPOLL);
    recording.batch(100, true, () -> recording.changed(100, 1, epoll, 0, 0, 1, State.SLEEP));
    recording.batch(200, true, () -> {});
    assertEquals(Map.of(OPEN, 200L), recording.folded(StateSet.ALL));
  }
}
