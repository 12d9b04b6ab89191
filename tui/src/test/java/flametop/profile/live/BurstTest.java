package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.HeatMap;
import flametop.profile.answer.TimeRange;
import flametop.sampler.State;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bursts of less than a second: their cells, and their graphs. */
class BurstTest {
  private static final long MS = World.MS;
  private static final int RUN = State.RUN.ordinal();

  private final World world = new World();

  /** A task that sleeps, seen by a pass. */
  private void asleep(double time, int stack) {
    world.begin(time, true);
    world.process(0, 10, "app");
    world.task(0, 0, 10, 0, false, "app");
    world.changed(time, 0, stack, 0, 0, 7, State.SLEEP);
    world.end();
  }

  private void pass(double time, Runnable records) {
    world.batch(time, true, records);
  }

  /** The task runs from 5,230 to 5,270 ms; the clock sees the run each 10 ms. */
  private void burst() {
    int idle = world.named("main", "poll");
    int work = world.named("main", "work");
    asleep(5_150, idle);
    pass(5_200, () -> {});
    pass(
        5_250,
        () -> {
          world.sample(5_235, 0, work, 5, 0, 7);
          world.sample(5_245, 0, work, 15, 0, 7);
        });
    pass(
        5_300,
        () -> {
          world.sample(5_255, 0, work, 25, 0, 7);
          world.sample(5_265, 0, work, 35, 0, 7);
          world.changed(5_300, 0, idle, 40, 0, 8, State.SLEEP);
        });
    pass(5_350, () -> {});
  }

  private HeatMap map() {
    return world.intake.accounts().busy().map(world.log.startTime(), world.intake.now());
  }

  private static TimeRange range(long from, long to) {
    return new TimeRange(from * MS, to * MS);
  }

  @Test
  void cells_aBurstOf40Ms_areThoseThatItRanIn() {
    burst();
    HeatMap map = map();
    double[] expected = {0, 0, 10, 20, 10, 0, 0};
    for (int i = 0; i < expected.length; i++) {
      TimeRange cell = range(5_180 + 20 * i, 5_200 + 20 * i);
      assertEquals(expected[i] * MS, map.busy(cell), 100, "cell=" + i);
      assertTrue(map.loose(cell) <= 0, "cell=" + i);
    }
    assertEquals(40.0 * MS, map.busy(range(5_000, 6_000)), 100);
  }

  @Test
  void range_ofACell_isTheGraphOfThatBurst() {
    burst();
    LogFold fold = world.fold();
    fold.hold(5_260 * MS);
    assertTrue(fold.range(5_240 * MS, Long.MAX_VALUE));
    assertEquals(5_240 * MS, fold.window().tailTime());
    assertEquals(5_260 * MS, fold.window().headTime());
    assertEquals(20 * MS, fold.trie.weight(0, 1 << RUN));
    fold.hold(5_220 * MS);
    assertTrue(fold.range(5_200 * MS, Long.MAX_VALUE));
    assertTrue(fold.trie.weight(0, 1 << RUN) <= 5 * MS);
    fold.hold(Long.MAX_VALUE);
    fold.catchUp(Long.MAX_VALUE);
    assertTrue(fold.window(100 * MS, Long.MAX_VALUE));
    assertEquals(5_250 * MS, fold.window().tailTime(), "a window begins at the end of a batch");
  }

  @Test
  void cells_seenByPassesAlone_areSpreadAndLoose() {
    int idle = world.named("main", "poll");
    asleep(5_150, idle);
    pass(5_200, () -> {});
    pass(5_300, () -> world.changed(5_300, 0, idle, 10, 0, 9, State.SLEEP));
    HeatMap map = map();
    for (int from = 5_200; from < 5_300; from += 20) {
      TimeRange cell = range(from, from + 20);
      assertEquals(2.0 * MS, map.busy(cell), 100, "from=" + from);
      assertEquals(2.0 * MS, map.loose(cell), 100, "from=" + from);
    }
    assertEquals(0, map.busy(range(5_000, 5_200)));
    assertEquals(0, map.busy(range(5_300, 5_320)));
  }

  @Test
  void cells_secondsBeforeTheStart_areNotKnown() {
    burst();
    HeatMap map = map();
    assertTrue(Double.isNaN(map.busy(range(4_980, 5_000))));
    assertEquals(0, map.busy(range(5_000, 5_020)));
    assertTrue(Double.isNaN(map.busy(range(6_000, 6_020))));
  }

  @Test
  void map_handedOut_staysAsItIs() {
    burst();
    HeatMap before = map();
    assertSame(before.column(5), map().column(5), "nothing changed");
    pass(5_400, () -> world.changed(5_400, 0, 0, 50, 0, 9, State.SLEEP));
    assertEquals(40.0 * MS, before.busy(range(5_000, 6_000)), 100);
    assertNotSame(before.column(5), map().column(5));
    assertEquals(50.0 * MS, map().busy(range(5_000, 6_000)), 100);
  }

  @Test
  void column_ofATaskThatRunsHalfTheTime_isThatOfTheStrip() {
    int work = world.named("main", "work");
    asleep(1_000, work);
    for (int pass = 1; pass <= 100; pass++) {
      int n = pass;
      double time = 1_000 + 50 * n;
      pass(
          time,
          () -> {
            world.sample(time, 0, work, 25 * n, 0, 7 + n);
            world.host.usage(0, 25L * n * MS, 50L * n * MS, 0, 0, 0, 0, 0, 0, 0, -1);
            world.host.usage(1, 50L * n * MS, 50L * n * MS, 0, 0, 0, 0, 0, 0, 0, -1);
          });
    }
    HeatMap map = map();
    float[] strip = world.host.busyBySecond(world.intake.now());
    int seconds = 0;
    for (int second = 2; second < 6; second++) {
      double busy = map.busy(range(1_000L * second, 1_000L * (second + 1)));
      assertEquals(strip[strip.length - 1 - (6 - second)], busy / (1_000 * MS), 0.001);
      seconds++;
    }
    assertEquals(4, seconds);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void cells_anyHistory_addUpToTheTimeOnCpus(long seed) {
    Simulation simulation = new Simulation(world, seed);
    for (int step = 0; step < 150; step++) {
      simulation.step();
    }
    Random random = new Random(seed);
    HeatMap map = map();
    double all = 0;
    for (HeatMap.Column column : map.columns()) {
      for (int cell = 0; cell < HeatMap.CELLS; cell++) {
        assertTrue(column.busy()[cell] >= 0);
        all += column.busy()[cell];
      }
    }
    long ran = 0;
    for (Simulation.Task task : simulation.tasks) {
      ran += task.seen ? task.last.run() - task.first.run() : 0;
    }
    assertEquals((double) ran, all, 1e-4 * ran + MS);
    long from = map.newest() * 1_000 - random.nextInt(1_000);
    assertEquals(
        map.busy(range(from / 20 * 20, from / 20 * 20 + 1_000)),
        map.busy(range(from / 20 * 20, from / 20 * 20 + 400))
            + map.busy(range(from / 20 * 20 + 400, from / 20 * 20 + 1_000)),
        100);
  }
}
