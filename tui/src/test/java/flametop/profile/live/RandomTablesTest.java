package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.log.OwnerTimes;
import flametop.profile.log.Spot;
import flametop.profile.log.Stacks;
import flametop.profile.log.TaskStates;
import flametop.profile.log.Window;
import flametop.profile.tree.Noise;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of histories made at random: functions and tasks. */
class RandomTablesTest extends RandomHistoryFixture {
  @ParameterizedTest
  @ValueSource(longs = {15, 16})
  void top_anyHistoryAndShape_isTheNaiveOne(long seed) {
    Random random = new Random(seed);
    World world = new World(new Options(Shape.PLAIN, 64 << 20, false));
    Simulation simulation = new Simulation(world, seed, true, null);
    for (int step = 0; step < 100; step++) {
      simulation.step();
      if (step % 20 == 10) {
        world.caughtUp(shape(random, world.stacks));
      }
      if (step % 10 == 0) {
        for (LogFold fold : world.folds) {
          checkTop(world, fold, random.nextBoolean());
        }
      }
    }
  }

  private static void checkTop(World world, LogFold fold, boolean bySelf) {
    Map<String, long[]> naive = new TreeMap<>();
    for (FoldedStack f : world.reader(fold, Long.MAX_VALUE).folded(StateSet.ALL, 0, false)) {
      int last = f.names().length - 1;
      Set<String> counted = new HashSet<>();
      for (int i = 0; i <= last; i++) {
        NodeKind kind = f.kinds()[i];
        boolean task =
            kind == NodeKind.PROCESS || kind == NodeKind.THREAD || kind == NodeKind.CGROUP;
        String name = kind + f.names()[i];
        if (!task && counted.add(name)) {
          naive.computeIfAbsent(name, n -> new long[2])[0] += f.value();
        }
        if (!task && i == last) {
          naive.get(name)[1] += f.value();
        }
      }
    }
    TopReport report = top(fold, bySelf, 10_000);
    assertEquals(naive.size(), report.functions());
    long before = Long.MAX_VALUE;
    for (TopReport.Row row : report.rows()) {
      long[] expected = naive.get(row.function().kind() + row.function().name());
      assertEquals(expected[0], row.total());
      assertEquals(expected[1], row.self());
      assertEquals(row.total(), Arrays.stream(row.totalByState()).sum());
      assertEquals(row.self(), Arrays.stream(row.selfByState()).sum());
      long by = bySelf ? row.self() : row.total();
      assertTrue(by <= before);
      before = by;
    }
    assertEquals(
        report.rows().stream().limit(3).map(TopReport.Row::function).toList(),
        top(fold, bySelf, 3).rows().stream().map(TopReport.Row::function).toList());
  }

  private static TopReport top(LogFold fold, boolean bySelf, int rows) {
    TopQuery.Order order = bySelf ? TopQuery.Order.SELF : TopQuery.Order.TOTAL;
    TopQuery query = new TopQuery(StateSet.ALL, order, rows, null, null);
    return fold.tree().top().report(query, Noise.NONE);
  }

  @ParameterizedTest
  @ValueSource(longs = {17, 18})
  void tasks_anyWindow_areTheNaiveOnes(long seed) {
    Random random = new Random(seed);
    World world = new World(Shape.PLAIN, 64 << 20);
    Simulation simulation = new Simulation(world, seed, true, null);
    OwnerTimes times = new OwnerTimes(world.log);
    for (int step = 0; step < 200; step++) {
      simulation.step();
      times.catchUp(Long.MAX_VALUE);
      if (step % 10 == 0) {
        long nanos = step % 20 == 0 ? Long.MAX_VALUE : random.nextInt(5_000) * MS;
        times.window(nanos, Long.MAX_VALUE);
        checkTasks(world, simulation, times);
      }
    }
  }

  private static void checkTasks(World world, Simulation simulation, OwnerTimes times) {
    Window window = times.window();
    Map<Integer, long[]> naive = new TreeMap<>();
    for (Change c : changes(world)) {
      if (!Spot.isSampled(c.spot()) && c.stack() != Stacks.STOLEN) {
        naive.computeIfAbsent(world.owners.tid(c.owner()), t -> new long[STATES])[c.state()] +=
            c.nanos(window);
      }
    }
    TaskStates states = new TaskStates(world.owners, world.intake.accounts(), window.headTime());
    TaskReader reader = new TaskReader(world.store, times, states, null, Noise.NONE);
    TasksQuery byThread = new TasksQuery(true, true, TasksQuery.Order.PID, 10_000, null);
    Map<Integer, long[]> actual = new TreeMap<>();
    for (TasksReport.Row row : reader.report(byThread, Shape.PLAIN).rows()) {
      // A thread that executed is in two processes.
      long[] sums = actual.computeIfAbsent(row.tid(), t -> new long[3]);
      sums[0] += row.run();
      sums[1] += row.queued();
      Simulation.Task task = simulation.tasks.get(row.tid() - 100);
      if (row.state() != null) {
        assertTrue(task.alive);
        assertTrue(!task.seen || row.ageNanos() <= window.headTime() - task.account);
      }
    }
    for (Simulation.Task task : simulation.tasks) {
      long[] expected = naive.getOrDefault(task.id + 100, new long[STATES]);
      long[] sums = actual.getOrDefault(task.id + 100, new long[3]);
      assertEquals(expected[State.RUN.ordinal()], sums[0]);
      assertTrue(expected[State.QUEUED.ordinal()] <= sums[1]);
      if (window.whole()) {
        assertEquals(expected[State.QUEUED.ordinal()], sums[1]);
      }
      assertTrue(!task.alive || !task.seen || actual.containsKey(task.id + 100));
    }
    TasksQuery byProcess = new TasksQuery(false, true, TasksQuery.Order.CPU, 3, null);
    TasksReport report = reader.report(byProcess, Shape.PLAIN);
    assertEquals(Math.min(3, report.tasks()), report.rows().size());
    for (int i = 1; i < report.rows().size(); i++) {
      assertTrue(report.rows().get(i).run() <= report.rows().get(i - 1).run());
    }
  }
}
