package flametop.profile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.sampler.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Random histories against naive models. */
class RandomHistoryTest {
  private static final long MS = World.MS;
  private static final int EVERY_STATE = 255;

  /** One entry of the log, and when it was seen. */
  private record Change(
      long time, int owner, int stack, int state, long base, int open, long samples) {}

  private static List<Change> changes(World world) {
    List<Change> changes = new ArrayList<>();
    ChangeLog.Cursor cursor = world.log.start();
    while (world.log.more(cursor)) {
      long time = world.log.nextTime(cursor);
      List<Change> here = new ArrayList<>();
      world.log.forward(
          cursor,
          (owner, stack, state, base, open, samples) ->
              here.add(new Change(time, owner, stack, state, base, open, samples)));
      changes.addAll(here);
    }
    return changes;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void accounts_anyHistory_addUpToTheWallClock(long seed) {
    World world = new World(new Options(RootOrder.THREAD, 64 << 20, TaskFilter.NONE, true));
    Simulation simulation = new Simulation(world, seed);
    for (int step = 0; step < 200; step++) {
      simulation.step();
      if (step % 10 == 0) {
        checkAccounts(world, simulation);
        world.check();
      }
    }
    checkAccounts(world, simulation);
  }

  private static void checkAccounts(World world, Simulation simulation) {
    long head = world.fold().window().headTime();
    int count = simulation.tasks.size();
    long[] all = new long[count];
    long[] run = new long[count];
    long[] queued = new long[count];
    long[] open = new long[count];
    for (Change c : changes(world)) {
      int task = world.owners.tid(c.owner) - 100;
      long nanos = c.base + c.open * head;
      all[task] += nanos;
      open[task] += c.open;
      run[task] += c.state == State.RUN.ordinal() ? nanos : 0;
      queued[task] += c.state == State.QUEUED.ordinal() && c.stack != Stacks.STOLEN ? nanos : 0;
    }
    for (Simulation.Task t : simulation.tasks) {
      if (!t.seen) {
        continue;
      }
      String where = "task=" + t.id + " at=" + head;
      assertTrue(open[t.id] == 0 || open[t.id] == 1, where);
      assertEquals(t.lastRun - t.firstSum, run[t.id], where);
      long wall = (t.alive && open[t.id] == 1 ? head : t.lastSight) - t.account;
      long more = all[t.id] - wall;
      assertTrue(-more <= Accounts.TICK_NANOS && more <= 30 * MS, where + " more=" + more);
      if (!t.alive) {
        assertTrue(more >= 0, where + " more=" + more);
      }
      if (open[t.id] == 0 || t.lastState != State.QUEUED) {
        assertEquals(t.lastWait - t.firstWait, queued[t.id], where);
      }
    }
    Fold fold = world.fold();
    for (int entry = 0; entry < fold.trie().entries(); entry++) {
      for (int state = 0; state < 8; state++) {
        assertTrue(fold.trie().entryWeight(entry, 1 << state, fold.window()) >= 0);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14})
  void fold_anyWindowFilterAndNames_isTheNaiveOne(long seed) {
    Random random = new Random(seed);
    RootOrder order = RootOrder.values()[(int) (seed % 4)];
    World world = new World(new Options(order, 64 << 20, TaskFilter.NONE, seed % 2 == 0));
    Simulation simulation = new Simulation(world, seed);
    for (int step = 0; step < 200; step++) {
      simulation.step();
      if (step % 50 == 20) {
        world.fold(
            new TaskFilter(
                step % 100 == 20 ? Set.of(10, 11) : Set.of(), Set.of("app1", "t2"), Set.of()));
        world.folds.get(world.folds.size() - 1).catchUp(Long.MAX_VALUE);
      }
      if (step % 8 == 0) {
        for (Fold fold : world.folds) {
          long window =
              random.nextInt(4) == 0
                  ? Long.MAX_VALUE
                  : ((long) (random.nextDouble() * 12_000)) * MS;
          compare(world, fold, window, random.nextBoolean());
        }
        world.check();
      }
    }
  }

  private static void compare(World world, Fold fold, long windowNanos, boolean samples) {
    GraphReader reader = world.reader(fold, windowNanos);
    Window window = fold.window();
    Map<String, long[]> naive = new TreeMap<>();
    long[] total = new long[8];
    IntList path = new IntList();
    IntList guessed = new IntList();
    Map<Long, long[]> byEntry = new TreeMap<>();
    for (Change c : changes(world)) {
      if (world.owners.admits(fold.filter(), c.owner)) {
        int owner =
            world.options.rootOrder() == RootOrder.THREAD ? c.owner : world.owners.group(c.owner);
        long tail = window.whole() || c.time > window.tailTime() ? 0 : 1;
        long nanos =
            samples
                ? c.samples
                    + c.open * window.headPass()
                    - tail * (c.samples + c.open * window.tailPass())
                : c.base
                    + c.open * window.headTime()
                    - tail * (c.base + c.open * window.tailTime());
        byEntry
                .computeIfAbsent((long) owner << 32 | c.stack & 0xFFFFFFFFL, k -> new long[8])[
                c.state] +=
            nanos;
        total[c.state] +=
            c.base + c.open * window.headTime() - tail * (c.base + c.open * window.tailTime());
      }
    }
    byEntry.forEach(
        (key, nanos) -> {
          path.clear();
          guessed.clear();
          fold.trie().rootPath((int) (key >> 32), path);
          world.stacks.path(key.intValue(), true, path, guessed);
          StringBuilder names = new StringBuilder();
          for (int i = 0; i < path.size; i++) {
            names.append(world.stacks.name(path.items[i])).append(';');
          }
          long sum = nanos[0] + nanos[1] + nanos[2];
          if (sum > 0) {
            naive.computeIfAbsent(names.toString(), k -> new long[1])[0] += sum;
          }
        });
    StateSet states = StateSet.of(State.RUN, State.QUEUED, State.SLEEP);
    Map<String, Long> expected = new TreeMap<>();
    naive.forEach((names, sum) -> expected.put(names, sum[0]));
    Map<String, Long> actual = new TreeMap<>();
    for (FoldedStack f : reader.folded(states, 0, samples)) {
      actual.merge(String.join(";", f.names()) + ";", f.value(), Long::sum);
      assertEquals(f.value(), f.shares().stream().mapToLong(FoldedStack.Share::value).sum());
      assertTrue(f.shares().stream().allMatch(share -> share.value() > 0));
    }
    assertEquals(expected, actual);
    for (int state = 0; state < 8; state++) {
      assertEquals(total[state], fold.trie().weight(0, 1 << state, window));
    }
    assertEquals(fold.trie().weight(0, EVERY_STATE, window), total[0] + total[1] + total[2]);
  }

  @ParameterizedTest
  @ValueSource(longs = {21, 22})
  void log_compacted_keepsTheSums(long seed) {
    World bounded = new World(new Options(RootOrder.COMM, 900_000, TaskFilter.NONE, true));
    World whole = new World(new Options(RootOrder.COMM, 64 << 20, TaskFilter.NONE, true));
    Simulation a = new Simulation(bounded, seed);
    Simulation b = new Simulation(whole, seed);
    for (int step = 0; step < 600; step++) {
      a.step();
      b.step();
      bounded.fold().window(5_000 * MS, Long.MAX_VALUE);
    }
    assertTrue(bounded.log.compactedTo() > bounded.log.startTime());
    assertEquals(whole.folded(StateSet.ALL), bounded.folded(StateSet.ALL));
    Fold anew = bounded.fold(TaskFilter.NONE);
    anew.catchUp(Long.MAX_VALUE);
    assertEquals(
        whole.folded(StateSet.ALL), bounded.folded(anew, Long.MAX_VALUE, StateSet.ALL, false));
    assertEquals(
        whole.folded(whole.fold(), Long.MAX_VALUE, StateSet.ALL, true),
        bounded.folded(anew, Long.MAX_VALUE, StateSet.ALL, true));
    assertEquals(
        bounded.folded(bounded.fold(), 3_000 * MS, StateSet.ALL, false),
        bounded.folded(anew, 3_000 * MS, StateSet.ALL, false));
    bounded.check();
  }

  @ParameterizedTest
  @ValueSource(longs = {31})
  void log_outOfMemory_staysWithinItAndKeepsTheTotals(long seed) {
    World bounded = new World(new Options(RootOrder.THREAD, 100_000, TaskFilter.NONE, true));
    World whole = new World(new Options(RootOrder.THREAD, 64 << 20, TaskFilter.NONE, true));
    Simulation a = new Simulation(bounded, seed);
    Simulation b = new Simulation(whole, seed);
    for (int step = 0; step < 2000; step++) {
      a.step();
      b.step();
      assertTrue(bounded.log.bytes() < 110_000, "bytes=" + bounded.log.bytes());
    }
    Fold anew = bounded.fold(TaskFilter.NONE);
    anew.catchUp(Long.MAX_VALUE);
    for (int state = 0; state < 8; state++) {
      int bits = 1 << state;
      assertEquals(
          whole.fold().trie().weight(0, bits, whole.fold().window()),
          anew.trie().weight(0, bits, anew.window()));
    }
    anew.window(2_000 * MS, Long.MAX_VALUE);
    assertTrue(anew.covered() > 0);
    bounded.check();
  }

  /** The same history twice: with ids that are forgotten and given anew, and without. */
  @ParameterizedTest
  @ValueSource(longs = {41, 42, 43, 44})
  void forgotten_anyIds_changesNothing(long seed) {
    Options options =
        new Options(RootOrder.values()[(int) (seed % 4)], 64 << 20, TaskFilter.NONE, seed % 2 == 0);
    World forgetting = new World(options);
    World whole = new World(options);
    Simulation a = new Simulation(forgetting, seed, true, new Random(seed));
    Simulation b = new Simulation(whole, seed, true, null);
    for (int step = 0; step < 400; step++) {
      a.step();
      b.step();
      if (step % 3 == 0) {
        forgetting.sweep();
      }
      if (step % 40 == 39) {
        forgetting.check();
        Fold anew = forgetting.fold(TaskFilter.NONE);
        anew.catchUp(Long.MAX_VALUE);
        for (boolean samples : new boolean[] {false, true}) {
          Map<String, Long> expected =
              whole.folded(whole.fold(), Long.MAX_VALUE, StateSet.ALL, samples);
          assertEquals(
              expected,
              forgetting.folded(forgetting.fold(), Long.MAX_VALUE, StateSet.ALL, samples));
          assertEquals(expected, forgetting.folded(anew, Long.MAX_VALUE, StateSet.ALL, samples));
          assertEquals(
              forgetting.folded(anew, 3_000 * MS, StateSet.ALL, samples),
              forgetting.folded(forgetting.fold(), 3_000 * MS, StateSet.ALL, samples));
        }
        forgetting.folds.remove(anew);
        anew.close();
      }
    }
    // What is in the log is kept: 40 stacks, whatever became of their ids, are told apart by them.
    assertTrue(forgetting.stacks.made() > 3L * forgetting.stacks.functions());
  }

  /** The oldest history becomes a sum of few entries: what it does not tell apart is not lost. */
  @ParameterizedTest
  @ValueSource(longs = {51, 52, 53, 54})
  void forgotten_outOfMemory_keepsTotalsAndTables(long seed) {
    RootOrder order = RootOrder.values()[(int) (seed % 4)];
    World forgetting = new World(new Options(order, 100_000, TaskFilter.NONE, true));
    World whole = new World(new Options(order, 64 << 20, TaskFilter.NONE, true));
    Simulation a = new Simulation(forgetting, seed, true, new Random(seed));
    Simulation b = new Simulation(whole, seed, true, null);
    for (int step = 0; step < 1_200; step++) {
      a.step();
      b.step();
      if (step % 30 == 0) {
        forgetting.sweep();
        forgetting.check();
        checkTotals(whole.fold(), forgetting.fold());
        Fold anew = forgetting.fold(TaskFilter.NONE);
        anew.catchUp(Long.MAX_VALUE);
        checkTotals(whole.fold(), anew);
        // A trie that has seen it all shows what a new one does, in any window.
        long window = step % 60 == 0 ? Long.MAX_VALUE : 2_000 * MS;
        assertEquals(
            forgetting.folded(anew, window, StateSet.ALL, false),
            forgetting.folded(forgetting.fold(), window, StateSet.ALL, false));
        forgetting.folds.remove(anew);
        anew.close();
      }
      assertTrue(forgetting.log.bytes() < 110_000, "bytes=" + forgetting.log.bytes());
    }
    assertTrue(forgetting.log.compactedTo() > forgetting.log.startTime());
  }

  private static void checkTotals(Fold expected, Fold actual) {
    actual.window(Long.MAX_VALUE, Long.MAX_VALUE);
    for (int state = 0; state < 8; state++) {
      assertEquals(
          expected.trie().weight(0, 1 << state, expected.window()),
          actual.trie().weight(0, 1 << state, actual.window()),
          "state=" + state);
    }
  }
}
