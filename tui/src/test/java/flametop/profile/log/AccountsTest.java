package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.live.World;
import flametop.sampler.State;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AccountsTest {
  private static final StateSet RUN = StateSet.of(State.RUN);
  private static final StateSet QUEUED = StateSet.of(State.QUEUED);
  private static final StateSet SLEEP = StateSet.of(State.SLEEP);
  private static final StateSet DISK = StateSet.of(State.DISK);

  private final World world = new World();
  private int a;
  private int b;
  private int busy;

  @BeforeEach
  void begin() {
    world.begin(1000, false);
    world.process(0, 10, "app");
    a = world.named("main", "poll");
    b = world.named("main", "read");
    busy = world.named("main", "work");
    world.end();
  }

  /** A pass sees the one task of the program for the first time, at 1000 after 5 on a CPU. */
  private void first(int stack, int waitSum, State state) {
    world.begin(1000, true);
    world.task(0, 0, 10, 0, false, "app");
    world.changed(1000, 0, stack, 5, waitSum, 7, state);
    world.end();
  }

  /** The same, asleep, by a kernel that counts the time in D. */
  private void firstBlocked(int blockedSum) {
    world.begin(1000, true);
    world.task(0, 0, 10, 0, false, "app");
    world.blocked(0, blockedSum);
    world.changed(1000, 0, a, 5, 1, 7, State.SLEEP);
    world.end();
  }

  /** A pass sees that the task was in D for longer. */
  private void blocked(int time, int blockedSum, int stack, long switches, State state) {
    world.begin(time, true);
    world.blocked(0, blockedSum);
    world.changed(time, 0, stack, 5, 1, switches, state);
    world.end();
  }

  private void gone(int task, double time, double runSum, double waitSum) {
    world.intake.taskGone(task, World.ns(time), World.ns(runSum), World.ns(waitSum), true);
  }

  private Map<String, Long> samples(StateSet states) {
    return world.folded(world.fold(), Long.MAX_VALUE, states, true);
  }

  private long sum(StateSet states) {
    return world.folded(states).values().stream().mapToLong(v -> v).sum();
  }

  /** ms of the first process. */
  private long process(StateSet states) {
    return Math.round(world.reader().processes(states, world.tasks(), false).get(0).weight() / 1e6);
  }

  @Test
  void changed_sleeperThatNeverRan_isOneOpenInterval() {
    first(a, 1, State.SLEEP);
    long entries = world.log.entries();
    for (int pass = 1; pass <= 20; pass++) {
      world.batch(1000 + 50 * pass, true, () -> {});
    }
    assertEquals(entries, world.log.entries());
    assertEquals(Map.of("app;main;poll", 1000L), world.folded(StateSet.ALL));
    assertEquals(Map.of("app;main;poll", 21L), samples(StateSet.ALL));
  }

  @Test
  void changed_sleptElsewhereInBetween_partsTimeByTheSums() {
    first(a, 1, State.SLEEP);
    world.batch(1050, true, () -> {});
    world.batch(1100, true, () -> world.changed(1100, 0, b, 15, 6, 8, State.SLEEP));
    assertEquals(Map.of("app;main;poll", 50L, "app;main;read", 35L), world.folded(SLEEP));
    assertEquals(Map.of("app;[not sampled]", 10L), world.folded(RUN));
    assertEquals(Map.of("app;[not sampled]", 5L), world.folded(QUEUED));
    world.batch(1105, false, () -> world.sample(1103, 0, busy, 16, 6, 8));
    assertEquals(Map.of("app;main;work", 11L), world.folded(RUN));
    // Only passes see where a task waits for a CPU.
    assertEquals(Map.of("app;[not sampled]", 5L), world.folded(QUEUED));
    assertEquals(Map.of("app;main;poll", 50L, "app;main;read", 37L), world.folded(SLEEP));
  }

  @Test
  void changed_sameSleepWithAnotherStack_isOneStay() {
    first(a, 1, State.SLEEP);
    // Its stack could not be read at first.
    world.batch(1050, true, () -> world.changed(1050, 0, b, 5, 1, 7, State.SLEEP));
    world.batch(1100, true, () -> {});
    assertEquals(Map.of("app;main;poll", 50L, "app;main;read", 50L), world.folded(SLEEP));
    assertEquals(Map.of("app;main;poll", 1L, "app;main;read", 2L), samples(SLEEP));
  }

  @Test
  void changed_sleepersThatWereThereBefore_placeNoTimeOfOthers() {
    world.begin(1000, true);
    for (int task = 0; task < 100; task++) {
      world.task(task, 0, 10 + task, 0, false, "app");
      world.changed(1000, task, task == 0 ? b : a, 5, 1, 7, State.SLEEP);
    }
    world.end();
    world.batch(1050, true, () -> world.changed(1050, 0, b, 15, 1, 8, State.SLEEP));
    world.batch(1100, true, () -> world.changed(1100, 0, b, 25, 1, 9, State.SLEEP));
    assertEquals(Map.of("app;main;poll", 9_900L, "app;main;read", 80L), world.folded(SLEEP));
  }

  @Test
  void changed_onDiskAndAsleepInTurn_bothStatesHaveTheirPartOfEachProcess() {
    first(a, 1, State.SLEEP);
    for (int i = 1; i <= 40; i++) {
      int at = i;
      State state = i % 4 == 0 ? State.DISK : State.SLEEP;
      world.batch(
          1000 + 50 * i,
          true,
          () -> world.changed(1000 + 50 * at, 0, at % 4 == 0 ? b : a, 5, 1, 7 + at, state));
    }
    assertEquals(Map.of("app;main;poll", 1_500L), world.folded(SLEEP));
    assertEquals(Map.of("app;main;read", 500L), world.folded(DISK));
    assertEquals(1_500L, process(SLEEP));
    assertEquals(500L, process(DISK));
  }

  @Test
  void changed_timeInDiskIsCounted_isExactWhateverPassesSaw() {
    firstBlocked(300);
    for (int i = 1; i <= 40; i++) {
      int at = i;
      // Of every 50 ms it is in D for 30, where one pass of four sees it.
      world.begin(1000 + 50 * i, true);
      world.blocked(0, 300 + 30 * at);
      State state = at % 4 == 0 ? State.DISK : State.SLEEP;
      world.changed(1000 + 50 * at, 0, at % 4 == 0 ? b : a, 5, 1, 7 + at, state);
      world.end();
    }
    assertEquals(Map.of("app;main;poll", 800L), world.folded(SLEEP));
    assertEquals(Map.of("app;main;read", 1_200L), world.folded(DISK));
    assertEquals(800L, process(SLEEP));
    assertEquals(1_200L, process(DISK));
  }

  @Test
  void changed_timeInDiskSeenByNoPass_isInDiskWithoutAStack() {
    firstBlocked(0);
    blocked(1050, 20, a, 9, State.SLEEP);
    assertEquals(Map.of("app;[not sampled]", 20L), world.folded(DISK));
    assertEquals(Map.of("app;main;poll", 30L), world.folded(SLEEP));
  }

  @Test
  void changed_oneLongStayInDisk_countsOnce() {
    firstBlocked(0);
    blocked(1050, 10, b, 8, State.DISK);
    world.batch(1100, true, () -> {});
    blocked(1150, 85, a, 9, State.SLEEP);
    assertEquals(Map.of("app;main;read", 85L), world.folded(DISK));
    assertEquals(Map.of("app;main;poll", 65L), world.folded(SLEEP));
  }

  @Test
  void changed_diskIsCountedNoLonger_samplesTellThen() {
    firstBlocked(0);
    world.begin(1050, true);
    world.intake.taskBlocked(0, -1);
    world.changed(1050, 0, b, 5, 1, 8, State.DISK);
    world.end();
    assertEquals(Map.of("app;main;read", 50L), world.folded(DISK));
    assertEquals(Map.of(), world.folded(SLEEP));
  }

  @Test
  void changed_seenOnCpuAfterOneSight_offCpuIsNotSampled() {
    first(a, 1, State.SLEEP);
    world.batch(1050, true, () -> world.changed(1050, 0, -1, 15, 1, 7, State.RUN));
    assertEquals(Map.of("app;[not sampled]", 40L), world.folded(SLEEP));
    assertEquals(Map.of("app;[not sampled]", 10L), world.folded(RUN));
  }

  @Test
  void changed_sleptBetweenTwoRunningSights_isNotSampled() {
    first(-1, 1, State.RUN);
    world.batch(1050, true, () -> world.changed(1050, 0, -1, 15, 1, 8, State.RUN));
    assertEquals(Map.of("app;[not sampled]", 40L), world.folded(SLEEP));
  }

  @Test
  void changed_restWithoutSwitch_isStolenAboveATick() {
    first(-1, 1, State.RUN);
    world.batch(1050, true, () -> world.changed(1050, 0, -1, 25, 1, 7, State.RUN));
    assertEquals(Map.of("app;[irq or stolen]", 20L), world.folded(QUEUED));
    world.batch(1100, true, () -> world.changed(1100, 0, -1, 80, 1, 7, State.RUN));
    assertEquals(Map.of("app;[irq or stolen]", 20L), world.folded(QUEUED));
    assertEquals(Map.of("app;[not sampled]", 75L), world.folded(RUN));
  }

  @Test
  void changed_seenInRunQueue_isOpenUntilTheSumMoves() {
    first(a, 1, State.QUEUED);
    world.batch(1050, true, () -> {});
    assertEquals(Map.of("app;main;poll", 50L), world.folded(QUEUED));
    world.batch(1100, true, () -> world.changed(1100, 0, -1, 15, 95, 7, State.RUN));
    assertEquals(Map.of("app;main;poll", 94L), world.folded(QUEUED));
    assertEquals(Map.of("app;[not sampled]", 10L), world.folded(RUN));
  }

  @Test
  void gone_freshTaskSeenByNobody_countsFromItsStart() {
    world.begin(1100, true);
    world.task(0, 0, 10, 1020, true, "app");
    gone(0, 1050, 10, 5);
    world.end();
    assertEquals(Map.of("app;[not sampled]", 10L), world.folded(RUN));
    assertEquals(Map.of("app;[not sampled]", 5L), world.folded(QUEUED));
    assertEquals(Map.of("app;[not sampled]", 15L), world.folded(SLEEP));
  }

  @Test
  void gone_afterSamples_allRunIsWhereTheSamplesAre() {
    world.begin(1100, true);
    world.task(0, 0, 10, 1020, true, "app");
    world.sample(1030, 0, busy, 10, 0, 0);
    world.changed(1100, 0, -1, 75, 0, 0, State.RUN);
    world.end();
    assertEquals(Map.of("app;main;work", 75L), world.folded(RUN));
    world.batch(1150, true, () -> gone(0, 1120, 100, 0));
    assertEquals(Map.of("app;main;work", 100L), world.folded(RUN));
  }

  @Test
  void gone_toldAfterAPassThatItDidNotSee_livesNoLonger() {
    world.begin(1370, true);
    world.task(0, 0, 10, 1000, true, "app");
    world.changed(1370, 0, a, 15, 47, 92, State.SLEEP);
    world.end();
    // It had ended at 1421, and its last sums were waited for.
    world.batch(1423, true, () -> {});
    world.batch(1477, true, () -> gone(0, 1421, 18, 67));
    assertEquals(Map.of("app;[not sampled]", 18L), world.folded(RUN));
    assertEquals(Map.of("app;[not sampled]", 67L), world.folded(QUEUED));
    assertEquals(Map.of("app;main;poll", 336L), world.folded(SLEEP));
  }

  @Test
  void gone_endedWhileAPassWasOnItsWay_livesNoLonger() {
    first(a, 1, State.SLEEP);
    world.batch(1050, true, () -> {});
    // The pass that began at 1100 would have come to it at 1103.
    world.batch(1100, true, () -> {});
    world.batch(1150, true, () -> world.sample(1101, 0, busy, 10, 21, 8));
    world.batch(1151, false, () -> gone(0, 1102, 11, 21));
    assertEquals(Map.of("app;main;work", 6L), world.folded(RUN));
    assertEquals(Map.of("app;[not sampled]", 20L), world.folded(QUEUED));
    assertEquals(Map.of("app;main;poll", 76L), world.folded(SLEEP));
  }

  @Test
  void sampled_olderThanThePassDeliveredBefore_placesTheTime() {
    first(-1, 1, State.RUN);
    world.begin(1050, true);
    world.changed(1050, 0, a, 35, 1, 8, State.SLEEP);
    world.sample(1020, 0, busy, 25, 1, 7);
    world.end();
    assertEquals(Map.of("app;main;work", 30L), world.folded(RUN));
    assertEquals(Map.of("app;main;poll", 20L), world.folded(SLEEP));
  }

  @Test
  void changed_afterExec_runIsOfTheGenerationBefore() {
    first(a, 1, State.SLEEP);
    world.begin(1050, true);
    world.process(1, 10, "tool");
    world.task(0, 1, 10, 0, false, "tool");
    world.changed(1050, 0, b, 15, 1, 8, State.SLEEP);
    world.end();
    world.batch(1100, true, () -> {});
    // Which of the two slept before the second was seen is not known.
    assertEquals(Map.of("app;[not sampled]", 40L, "tool;main;read", 50L), world.folded(SLEEP));
    assertEquals(Map.of("app;[not sampled]", 10L), world.folded(RUN));
  }

  @Test
  void changed_queuedSinceTheMiddleOfASleep_sleepIsTakenBack() {
    first(a, 1, State.SLEEP);
    // It woke at 1010, which nobody saw.
    world.batch(1050, true, () -> world.changed(1050, 0, a, 5, 1, 7, State.QUEUED));
    world.batch(1100, true, () -> world.changed(1100, 0, a, 5, 1, 7, State.QUEUED));
    // It ran from 1110 to 1113.
    world.batch(1150, true, () -> world.changed(1150, 0, a, 8, 101, 8, State.SLEEP));
    assertEquals(Map.of("app;main;poll", 47L), world.folded(SLEEP));
    assertEquals(100L, sum(QUEUED));
    assertEquals(Map.of("app;[not sampled]", 3L), world.folded(RUN));
  }

  @Test
  void changed_waitSumGrewBeyondTheTime_isWhatCanBe() {
    first(a, 1, State.SLEEP);
    world.batch(1050, true, () -> {});
    world.batch(1100, true, () -> world.changed(1100, 0, busy, 6, 333_000, 8, State.RUN));
    world.batch(1200, true, () -> world.changed(1200, 0, b, 16, 333_010, 9, State.SLEEP));
    assertEquals(59L, sum(QUEUED));
    assertEquals(11L, sum(RUN));
    // What follows is accounted for as ever.
    assertEquals(Map.of("app;main;poll", 50L, "app;main;read", 80L), world.folded(SLEEP));
    world.batch(1300, true, () -> {});
    assertEquals(300L, sum(StateSet.ALL));
  }

  @Test
  void changed_queuedAgainAfterItRan_waitsOnceOnly() {
    first(a, 1, State.QUEUED);
    // It ran from 1010 to 1013 and was preempted.
    world.batch(1050, true, () -> world.changed(1050, 0, a, 8, 11, 7, State.QUEUED));
    // It ran from 1080 to 1090 and sleeps.
    world.batch(1100, true, () -> world.changed(1100, 0, b, 18, 78, 8, State.SLEEP));
    assertEquals(77L, sum(QUEUED));
    assertEquals(Map.of("app;[not sampled]", 13L), world.folded(RUN));
    assertEquals(Map.of("app;main;read", 10L), world.folded(SLEEP));
  }

  @Test
  void changed_idleKernelThread_isCountedButNotShown() {
    world.begin(1000, true);
    world.task(0, 0, 10, 0, false, "kworker");
    world.changed(1000, 0, -1, 5, 1, 7, State.IDLE_KTHREAD);
    world.end();
    world.batch(1050, true, () -> {});
    assertEquals(Map.of(), world.folded(StateSet.ALL));
    assertEquals(1, world.owners.tasks().byState(Shape.PLAIN)[State.IDLE_KTHREAD.ordinal()]);
  }

  @Test
  void changed_kernelWithoutWaitSums_takesTheQueueFromTheSights() {
    first(a, 0, State.QUEUED);
    world.batch(1050, true, () -> world.changed(1050, 0, -1, 25, 0, 7, State.RUN));
    assertEquals(Map.of("app;[not sampled]", 30L), world.folded(QUEUED));
  }

  @Test
  void changed_tenThousandSleepers_addNothingAfterTheFirstPass() {
    int count = 10_000;
    world.begin(1000, true);
    for (int task = 0; task < count; task++) {
      world.task(task, 0, 100 + task, 0, false, "app");
      world.changed(1000, task, a, 5, 1, 7, State.SLEEP);
    }
    world.end();
    long entries = world.log.entries();
    long bytes = world.log.bytes();
    for (int pass = 1; pass <= 19; pass++) {
      world.batch(1000 + 50 * pass, true, () -> {});
    }
    assertEquals(entries, world.log.entries());
    assertEquals((double) bytes, (double) world.log.bytes(), 4096);
    assertEquals(Map.of("app;main;poll", count * 950L), world.folded(SLEEP));
    assertEquals(Map.of("app;main;poll", count * 20L), samples(SLEEP));
    world.check();
  }

  @Test
  void sampled_taskThatIsGone_isCountedAndHoldsNoAccount() {
    Owners owners = new Owners();
    owners.processes().seen(0, 10, 0, "app", "app");
    owners.tasks().seen(0, 0, 10, "app");
    ChangeLog log = new ChangeLog(1 << 20, owners);
    Accounts accounts = new Accounts(log, owners);
    accounts.taskSeen(0, 0, true);
    accounts.sampled(0, 1_000, 1, 3, 400, 0, 1);
    accounts.gone(0, 2_000, 500, 0);
    accounts.sampled(0, 1_900, 1, 3, 480, 0, 1);
    log.mark(2_000, 0);
    assertEquals(0, accounts.held());
    long[] sums = new long[2];
    ChangeLog.Cursor cursor = log.start();
    log.forward(
        cursor,
        (owner, stack, spot, base, open, samples) -> {
          if (stack == 3 && spot == Spot.sampled(State.RUN.ordinal(), 1)) {
            sums[0] += base;
            sums[1] += samples;
          }
        });
    assertEquals(2 * (1_000_000_000L / 99), sums[0]);
    assertEquals(2, sums[1]);
  }

  @Test
  void batch_withoutAPass_isNoSightOfTheTasks() {
    first(a, 1, State.SLEEP);
    world.batch(1050, true, () -> {});
    world.batch(1900, false, () -> {});
    assertEquals(Map.of("app;main;poll", 50L), world.folded(SLEEP));
  }

  @Test
  void batch_withoutAPass_execOrEndOfATaskIsNoLaterMoment() {
    world.begin(1000, true);
    world.process(1, 11, "other");
    world.task(0, 0, 10, 0, false, "app");
    world.task(1, 1, 11, 0, false, "other");
    world.changed(1000, 0, a, 5, 1, 7, State.SLEEP);
    world.changed(1000, 1, b, 5, 1, 7, State.SLEEP);
    world.end();
    world.batch(1050, true, () -> {});
    world.batch(1700, false, () -> world.changed(1600, 1, -1, 6, 1, 7, State.RUN));
    world.batch(1900, false, () -> gone(1, 1800, 6, 1));
    assertEquals(50L, world.folded(SLEEP).get("app;main;poll"));
  }
}
