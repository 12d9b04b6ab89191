package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The estimate beside a truth that is known, of loads that wake and sleep. */
class EstimateTest {
  private static final double SECOND = 1e9;
  private static final double CPU_PERIOD = SECOND / 99;
  private static final double PASS_PERIOD = SECOND / 19;
  private static final double LENGTH = 10 * SECOND;
  private static final int RUNS = 40;

  /** A stay of a thread in a state and stack, ns. */
  private record Stay(State state, String function, double nanos) {}

  /** What a thread does, over and over; a random moment of it is the first. */
  private interface Load {
    List<Stay> cycle(Random random);
  }

  /** A thread with its true history. */
  private static final class Task {
    final Load load;
    final Random random;
    final List<Stay> due = new ArrayList<>();
    Stay now;
    double until;
    double run;
    double wait;
    long switches;
    long shown = -1;

    Task(Load load, Random random, double start) {
      this.load = load;
      this.random = random;
      due.addAll(load.cycle(random));
      double length = due.stream().mapToDouble(Stay::nanos).sum();
      double skipped = random.nextDouble() * length;
      now = due.remove(0);
      until = now.nanos;
      while (until < skipped) {
        now = due.remove(0);
        until += now.nanos;
      }
      until += start - skipped;
    }

    void next() {
      if (due.isEmpty()) {
        due.addAll(load.cycle(random));
      }
      Stay before = now;
      now = due.remove(0);
      until += now.nanos;
      boolean sleeps = now.state != State.RUN && now.state != State.QUEUED;
      switches += before.state == State.RUN && sleeps ? 1 : 0;
    }
  }

  /** Threads of one comm, seen by a clock and by passes with jittered periods. */
  private static final class Machine {
    final World world = new World(Shape.PLAIN, 64 << 20);
    final Map<String, Double> truth = new TreeMap<>();
    final Map<String, Integer> stacks = new TreeMap<>();
    final List<Task> tasks = new ArrayList<>();
    final Random random;
    double now = SECOND;

    Machine(long seed, int threads, Load load) {
      random = new Random(seed);
      world.begin(now / 1e6, false);
      world.process(0, 10, "app");
      for (int t = 0; t < threads; t++) {
        tasks.add(new Task(load, random, now));
        world.task(t, 0, 10 + t, 0, false, "app");
      }
      world.end();
    }

    int stack(Stay stay) {
      return stacks.computeIfAbsent(stay.function, world::named);
    }

    /** From 0.5 to 1.5 of a period, evenly. */
    double jittered(double period) {
      return period * (0.5 + random.nextDouble());
    }

    void run() {
      double end = now + LENGTH;
      double pass = now;
      double sample = now + jittered(CPU_PERIOD);
      while (now < end) {
        double to = Math.min(pass, sample);
        tasks.forEach(t -> advance(t, to));
        now = to;
        if (to == pass) {
          world.batch(to / 1e6, true, () -> tasks.forEach(this::see));
          pass += jittered(PASS_PERIOD);
        } else {
          world.batch(to / 1e6, false, () -> tasks.forEach(this::sample));
          sample += jittered(CPU_PERIOD);
        }
      }
    }

    private void advance(Task t, double to) {
      double at = now;
      while (at < to) {
        double upTo = Math.min(to, t.until);
        truth.merge(t.now.state + " " + t.now.function, upTo - at, Double::sum);
        t.run += t.now.state == State.RUN ? upTo - at : 0;
        t.wait += t.now.state == State.QUEUED ? upTo - at : 0;
        at = upTo;
        if (at >= t.until) {
          t.next();
        }
      }
    }

    private void sample(Task t) {
      if (t.now.state == State.RUN) {
        world.sample(
            now / 1e6, tasks.indexOf(t), stack(t.now), t.run / 1e6, t.wait / 1e6, t.switches);
      }
    }

    private void see(Task t) {
      boolean runs = t.now.state == State.RUN;
      if (runs || t.shown != t.switches) {
        int stack = runs ? -1 : stack(t.now);
        // The kernel has a wait in its sum when the wait is over.
        double waiting = t.now.state == State.QUEUED ? t.now.nanos - (t.until - now) : 0;
        double wait = (t.wait - waiting) / 1e6;
        world.changed(
            now / 1e6, tasks.indexOf(t), stack, t.run / 1e6, wait, t.switches, t.now.state);
      }
      t.shown = runs || t.now.state == State.QUEUED ? -1 : t.switches;
    }

    /** Share of a function in the time of a state, %. */
    double share(State state, String function) {
      double all = 0;
      double its = 0;
      for (FoldedStack f : world.reader().folded(StateSet.of(state), 0, false)) {
        all += f.value();
        its += f.names()[f.names().length - 1].equals(function) ? f.value() : 0;
      }
      return 100 * its / all;
    }

    double trueShare(State state, String function) {
      double all = 0;
      for (Map.Entry<String, Double> e : truth.entrySet()) {
        all += e.getKey().startsWith(state + " ") ? e.getValue() : 0;
      }
      return 100 * truth.getOrDefault(state + " " + function, 0.0) / all;
    }
  }

  private static Load onCpu(double cycle, double a, double b) {
    return random ->
        List.of(
            new Stay(State.RUN, "a", a * 1e6),
            new Stay(State.RUN, "b", b * 1e6),
            new Stay(State.SLEEP, "nap", (cycle - a - b) * 1e6));
  }

  @ParameterizedTest(name = "every {0} ms: {1} in a, {2} in b")
  @CsvSource({
    "25, 2.5, 7.5",
    "25, 7.5, 2.5",
    "4, 0.7, 0.7",
    "10.10101, 1.5, 1.5",
    "17, 3, 5",
    "100, 1, 3"
  })
  void run_wakesAndSleeps_sharesAreUnbiased(double cycle, double a, double b) {
    unbiased(State.RUN, 1, onCpu(cycle, a, b), 99 * (a + b) / cycle * LENGTH / SECOND);
  }

  @ParameterizedTest(name = "{0} ms asleep in a, {1} in b")
  @CsvSource({"26, 26", "5, 47", "47, 5", "2, 8", "300, 700", "60, 1"})
  void sleep_twoPlacesInTurn_sharesAreUnbiased(double a, double b) {
    // Passes within one stay are one look at it.
    unbiased(State.SLEEP, 3, asleep(a, b), 3 * LENGTH / Math.max(PASS_PERIOD, (a + b) / 2 * 1e6));
  }

  private static Load asleep(double a, double b) {
    return random ->
        List.of(
            new Stay(State.SLEEP, "a", a * 1e6),
            new Stay(State.RUN, "work", 2e5),
            new Stay(State.SLEEP, "b", b * 1e6),
            new Stay(State.RUN, "work", 2e5));
  }

  @Test
  void queued_waitsOfTwoLengths_sharesAreUnbiased() {
    Load load =
        random ->
            List.of(
                new Stay(State.SLEEP, "nap", 3e6),
                new Stay(State.QUEUED, "a", 1e6),
                new Stay(State.RUN, "work", 1e6),
                new Stay(State.SLEEP, "nap", 3e6),
                new Stay(State.QUEUED, "b", 9e6),
                new Stay(State.RUN, "work", 1e6));
    unbiased(State.QUEUED, 2, load, 2 * 19 * 10.0 / 18 * LENGTH / SECOND);
  }

  /** Mean of many runs within its error of the truth, spread no more than that of counting. */
  private static void unbiased(State state, int threads, Load load, double samples) {
    double sum = 0;
    double squares = 0;
    double truth = 0;
    for (int run = 0; run < RUNS; run++) {
      Machine machine = new Machine(run, threads, load);
      machine.run();
      double error = machine.share(state, "a") - machine.trueShare(state, "a");
      truth = machine.trueShare(state, "a");
      sum += error;
      squares += error * error;
    }
    double counting = Math.sqrt(truth * (100 - truth) / samples);
    double spread = Math.sqrt(squares / RUNS);
    assertEquals(0, sum / RUNS, 3.5 * counting / Math.sqrt(RUNS), "bias; counting=" + counting);
    assertTrue(spread < 1.6 * counting, "spread=" + spread + " counting=" + counting);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void run_twentyFunctionsInBursts_chiSquaredIsThatOfCounting(int threads) {
    double chiSquared = 0;
    int runs = 20;
    for (int run = 0; run < runs; run++) {
      Load load =
          random -> {
            List<Stay> cycle = new ArrayList<>();
            for (int f = 0; f < 20; f++) {
              double burst = 1e5 + f * 1e4;
              cycle.add(new Stay(State.RUN, "f" + f, burst));
              cycle.add(new Stay(State.SLEEP, "nap", burst * (1 + random.nextDouble())));
            }
            return cycle;
          };
      Machine machine = new Machine(100 + run, threads, load);
      machine.run();
      double n = 0;
      for (FoldedStack f : machine.world.reader().folded(StateSet.of(State.RUN), 0, true)) {
        n += f.value();
      }
      for (int f = 0; f < 20; f++) {
        double expected = n * machine.trueShare(State.RUN, "f" + f) / 100;
        double seen = n * machine.share(State.RUN, "f" + f) / 100;
        chiSquared += (seen - expected) * (seen - expected) / expected / runs;
      }
    }
    // 19 degrees of freedom; the mean of 20 runs has a standard error of 1.4.
    assertEquals(19, chiSquared, 5.5);
  }

  @Test
  void certainty_halfOfASample_isTwoStandardErrors() {
    certain(State.RUN, onCpu(25, 2.5, 7.5));
  }

  /** The time in a is within two standard errors of the truth as often as it should be. */
  private static void certain(State state, Load load) {
    int within = 0;
    int runs = 100;
    for (int run = 0; run < runs; run++) {
      Machine machine = new Machine(run, 1, load);
      machine.run();
      GraphReader reader = machine.world.reader();
      int node = node(machine.world, "a");
      Selection selection = reader.selection(node, StateSet.of(state), Long.MAX_VALUE / 4);
      assertTrue(state != State.RUN || selection.certainty().samples() > 50, "samples");
      double error = Math.abs(selection.weight() - machine.truth.get(state + " a"));
      within += error <= 2 * selection.certainty().error() ? 1 : 0;
      // All of a root is known.
      assertEquals(0, reader.selection(0, StateSet.ALL, Long.MAX_VALUE / 4).certainty().error());
    }
    assertTrue(within >= 89, "within=" + within);
  }

  @ParameterizedTest(name = "{0} ms asleep in a, {1} in b")
  @CsvSource({"26, 26", "5, 47", "47, 5", "2, 8", "200, 100"})
  void certainty_timeAsleep_coversTheTruth(double a, double b) {
    certain(State.SLEEP, asleep(a, b));
  }

  private static int node(World world, String function) {
    Trie trie = world.fold().trie;
    for (int node = 0; node < trie.nodes(); node++) {
      if (world.stacks.name(trie.function(node)).equals(function)) {
        return node;
      }
    }
    throw new AssertionError("no node " + function);
  }

  /** Processes that live 3 or 9 ms: a sample sees one in ten, and stands for the others. */
  @Test
  void run_processesThatNoSampleSaw_areOnTheStacksOfTheirSiblings() {
    double error = 0;
    int runs = 30;
    for (int run = 0; run < runs; run++) {
      Random random = new Random(run);
      World world = new World(Shape.PLAIN, 64 << 20);
      int[] start = {0, 0};
      world.begin(1000, true);
      start[0] = world.named("main", "start");
      start[1] = world.named("main", "work");
      world.end();
      double now = 1000;
      double sample = now + random.nextDouble() * 10;
      double work = 0;
      double all = 0;
      for (int pid = 0; pid < 1_000; pid++) {
        double length = random.nextBoolean() ? 3 : 9;
        double born = now;
        int id = pid;
        double end = now + length;
        List<Runnable> records = new ArrayList<>();
        records.add(() -> world.process(id, 100 + id, "sed"));
        records.add(() -> world.task(id, id, 100 + id, born, true, "sed"));
        for (; sample < end; sample += 10.1 * (0.5 + random.nextDouble())) {
          double at = sample;
          int stack = at - born < 1 ? start[0] : start[1];
          records.add(() -> world.sample(at, id, stack, at - born, 0, 0));
        }
        records.add(() -> world.intake.taskGone(id, World.ns(end), World.ns(length), 0, true));
        world.batch(end, pid % 10 == 0, () -> records.forEach(Runnable::run));
        work += length - 1;
        all += length;
        now = end;
      }
      Map<String, Long> folded = world.folded(StateSet.of(State.RUN));
      assertEquals(2, folded.size(), folded.toString());
      assertEquals(all, folded.values().stream().mapToDouble(v -> v).sum(), 2);
      error += folded.get("sed;main;work") - work;
      // Each process has its own time, whatever samples it had.
      ProcessRow row = world.reader().processes(StateSet.ALL, world.tasks(), false).get(500);
      assertTrue(row.weight() == World.ns(3) || row.weight() == World.ns(9), row.toString());
    }
    // n is 594: a share of 83 % has an error of 1.5 points, 92 ms.
    assertEquals(0, error / runs, 3.5 * 92 / Math.sqrt(runs));
  }

  @Test
  void run_rateLowered_samplesCountForTheirPeriods() {
    World world = new World();
    int[] stacks = {0, 0};
    world.begin(1000, true);
    world.process(0, 10, "app");
    world.task(0, 0, 10, 0, false, "app");
    stacks[0] = world.named("before");
    stacks[1] = world.named("after");
    world.intake.hostUsage(0, 0, 0, 19, 100, 0);
    world.changed(1000, 0, -1, 0, 0, 0, State.RUN);
    world.end();
    for (int i = 1; i <= 100; i++) {
      double now = 1000 + 10 * i;
      world.batch(now, false, () -> world.sample(now, 0, stacks[0], now - 1000, 0, 0));
    }
    world.batch(2000, true, () -> world.intake.hostUsage(0, 0, 0, 19, 10, 0));
    for (int i = 1; i <= 10; i++) {
      double now = 2000 + 100 * i;
      world.batch(now, false, () -> world.sample(now, 0, stacks[1], now - 1000, 0, 0));
    }
    assertEquals(
        Map.of("app;before", 1000L, "app;after", 1000L), world.folded(StateSet.of(State.RUN)));
  }
}
