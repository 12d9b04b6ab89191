package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.array.IntColumn;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Function;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.log.Accounts;
import flametop.profile.log.Owners;
import flametop.profile.log.Spot;
import flametop.profile.log.Stacks;
import flametop.profile.log.Window;
import flametop.profile.tree.NaiveShape;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RandomHistoryTest extends RandomHistoryFixture {
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void accounts_anyHistory_addUpToTheWallClock(long seed) {
    World world = new World(Shape.of(new Shape.Group(RootOrder.THREAD)), 64 << 20);
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
    long[] disk = new long[count];
    long[] open = new long[count];
    for (Change c : changes(world)) {
      int task = world.owners.tid(c.owner()) - 100;
      long nanos = Spot.isSampled(c.spot()) ? 0 : c.base() + c.open() * head;
      all[task] += nanos;
      open[task] += c.open();
      disk[task] += c.state() == State.DISK.ordinal() ? nanos : 0;
      run[task] += c.state() == State.RUN.ordinal() ? nanos : 0;
      queued[task] += c.state() == State.QUEUED.ordinal() && c.stack() != Stacks.STOLEN ? nanos : 0;
    }
    for (Simulation.Task t : simulation.tasks) {
      if (!t.seen) {
        continue;
      }
      String where = "task=" + t.id + " at=" + head;
      assertTrue(open[t.id] == 0 || open[t.id] == 1, where);
      assertEquals(t.last.run() - t.first.run(), run[t.id], where);
      long wall = (t.alive && open[t.id] == 1 ? head : t.lastSight) - t.account;
      long more = all[t.id] - wall;
      assertTrue(-more <= Accounts.TICK_NANOS && more <= 30 * MS, where + " more=" + more);
      if (!t.alive) {
        assertTrue(more >= 0, where + " more=" + more);
      }
      if (simulation.countsDisk && open[t.id] == 0) {
        assertEquals(
            (double) (t.last.blocked() - t.first.blocked()),
            (double) disk[t.id],
            Accounts.TICK_NANOS,
            where);
      }
      if (open[t.id] == 0 || t.lastState != State.QUEUED) {
        assertEquals(t.last.queued() - t.first.queued(), queued[t.id], where);
      }
    }
    LogFold fold = world.fold();
    for (int entry = 0; entry < fold.trie.entries(); entry++) {
      for (int state = 0; state < STATES; state++) {
        long nanos = fold.trie.entryWeight(entry, 1 << state);
        // A wait is in the log before the sum that it is in has moved.
        assertTrue(nanos >= -Accounts.TICK_NANOS, "entry=" + entry + " nanos=" + nanos);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {11, 12, 13, 14})
  void fold_anyWindowShapeAndNames_isTheNaiveOne(long seed) {
    Random random = new Random(seed);
    RootOrder order = RootOrder.values()[(int) (seed % 4)];
    World world = new World(new Options(Shape.of(new Shape.Group(order)), 64 << 20, seed % 2 == 0));
    Simulation simulation = new Simulation(world, seed);
    for (int step = 0; step < 200; step++) {
      simulation.step();
      if (step % 50 == 20) {
        world.caughtUp(shape(random, world.stacks));
      }
      if (step % 8 == 0) {
        for (LogFold fold : world.folds) {
          long window =
              random.nextInt(4) == 0
                  ? Long.MAX_VALUE
                  : ((long) (random.nextDouble() * 12_000)) * MS;
          world.reader(fold, window);
          compare(world, fold, random.nextBoolean());
          if (random.nextInt(3) == 0) {
            long now = fold.window().headTime();
            long to = now - random.nextInt(6_000) * MS;
            long from = to - random.nextInt(4_000) * MS;
            fold.hold(to);
            assertTrue(fold.range(from, Long.MAX_VALUE));
            Window there = fold.window();
            assertTrue(there.headTime() <= Math.max(to, world.log.startTime()));
            assertTrue(there.whole() ? from <= world.log.startTime() : there.tailTime() <= from);
            compare(world, fold, random.nextBoolean());
            fold.hold(Long.MAX_VALUE);
            fold.catchUp(Long.MAX_VALUE);
          }
        }
        world.check();
      }
    }
  }

  /** Names of the path of an entry, each with a semicolon behind; null if it is left out. */
  private static String path(World world, Shape shape, int owner, int stack, int cpu) {
    List<Function> whole = frames(world, shape, stack, true);
    List<Function> shown = frames(world, shape, stack, !world.options.hideRoots());
    if (shown == null) {
      return null;
    }
    List<Function> frames = whole == null ? shown : whole;
    Owners owners = world.owners;
    String process =
        owners.service(owner) + "-" + owners.processes().tgid(owners.process(owner)) + ";";
    StringBuilder names =
        new StringBuilder(
            switch (shape.group()) {
              case NONE -> "";
              case SERVICE -> owners.service(owner) + ";";
              case COMM -> owners.processComm(owner) + ";";
              case PROCESS -> process;
              case THREAD -> process + owners.comm(owner) + "-" + owners.tid(owner) + ";";
              case CGROUP -> cgroups(owners.cgroup(owner)) + owners.service(owner) + ";";
              case ANCESTOR -> owners.ancestor(owner) + ";" + owners.service(owner) + ";";
              case CPU -> cpu == Shape.NO_CPU ? "[no cpu];" : "cpu " + cpu + ";";
            });
    frames.forEach(f -> names.append(f.name()).append(';'));
    return names.toString();
  }

  private static String cgroups(String path) {
    boolean names = path.startsWith("/") && path.length() > 1;
    return (names ? path.substring(1).replace('/', ';') : path) + ";";
  }

  private static List<Function> frames(World world, Shape shape, int stack, boolean roots) {
    IntColumn path = new IntColumn();
    world.stacks.path(stack, roots, path, new IntColumn());
    List<Function> frames = new ArrayList<>();
    for (int f : path.toArray()) {
      Stacks stacks = world.stacks;
      frames.add(new Function(stacks.kind(f), stacks.module(f), stacks.name(f)));
    }
    return NaiveShape.shape(shape, frames);
  }

  private static void compare(World world, LogFold fold, boolean samples) {
    GraphReader reader = new GraphReader(fold);
    Window window = fold.window();
    Shape shape = fold.shape;
    Map<List<Integer>, long[][]> entries = new HashMap<>();
    for (Change c : changes(world)) {
      if (c.time() <= window.headTime() && world.owners.admits(shape, c.owner())) {
        int owner = shape.group() == RootOrder.THREAD ? c.owner() : world.owners.group(c.owner());
        List<Integer> key = List.of(owner, c.stack(), shape.tellsCpus() ? Spot.cpu(c.spot()) : 0);
        long[][] sums = entries.computeIfAbsent(key, k -> new long[2][Spot.KINDS]);
        sums[0][Spot.kind(c.spot())] += c.nanos(window);
        sums[1][Spot.kind(c.spot())] += c.samples(window);
      }
    }
    Map<String, double[]> naive = new TreeMap<>();
    double[] total = new double[STATES];
    naiveNanos(world, shape, entries)
        .forEach(
            (key, nanos) -> {
              boolean left = shape.narrowsCpus() && !shape.admitsCpu(key.get(2));
              String names = left ? null : path(world, shape, key.get(0), key.get(1), key.get(2));
              double sum = 0;
              for (int state = 0; state < STATES && names != null; state++) {
                if ((shape.states() >> state & 1) != 0) {
                  long[] seen = entries.get(key)[1];
                  total[state] += nanos[state];
                  sum +=
                      samples
                          ? seen[Spot.of(state)]
                              + seen[Spot.kind(Spot.sampled(state, Shape.NO_CPU))]
                          : nanos[state];
                }
              }
              if (sum > 0) {
                naive.computeIfAbsent(names, k -> new double[1])[0] += sum;
              }
            });
    Map<String, Long> actual = new TreeMap<>();
    for (FoldedStack f : reader.folded(StateSet.ALL, 0, samples)) {
      actual.put(String.join(";", f.names()) + ";", f.value());
      assertEquals(f.value(), f.shares().stream().mapToLong(FoldedStack.Share::value).sum());
    }
    String where = "samples=" + samples + " shape=" + shape + " window=" + window;
    naive.forEach(
        (path, value) ->
            assertEquals(
                value[0], (double) actual.getOrDefault(path, 0L), NEAR, where + " " + path));
    assertTrue(naive.keySet().containsAll(actual.keySet()), where);
    double sum = 0;
    for (int state = 0; state < STATES; state++) {
      assertEquals(total[state], (double) fold.trie.weight(0, 1 << state), NEAR, where);
      sum += total[state];
    }
    assertEquals(sum, (double) fold.trie.weight(0, EVERY_STATE), NEAR);
  }

  /** ns by class: of which the stack is not known, that samples stand for, of known stacks. */
  private static final class Pool {
    final long[] known = new long[4];
    final long[] weight = new long[4];
    final long[] sure = new long[4];
  }

  /** ns by state of each entry (owner, stack, CPU), estimated by the formula. */
  private static Map<List<Integer>, double[]> naiveNanos(
      World world, Shape shape, Map<List<Integer>, long[][]> entries) {
    Map<String, Pool> pools = new HashMap<>();
    entries.forEach(
        (key, sums) -> {
          Pool pool = pools.computeIfAbsent(pool(world.owners, shape, key.get(0)), k -> new Pool());
          boolean waits = key.get(1) == Stacks.NOT_SAMPLED;
          for (int state = 0; state < STATES; state++) {
            int at = classOf(state);
            long exact = sums[0][state];
            pool.weight[at] += sums[0][Spot.kind(Spot.sampled(state, Shape.NO_CPU))];
            pool.known[at] += waits ? exact : 0;
            pool.sure[at] += waits || key.get(1) == Stacks.STOLEN ? 0 : Math.max(0, exact);
          }
        });
    for (Pool pool : pools.values()) {
      if (pool.known[3] == 0) {
        pool.weight[2] += pool.weight[3];
        pool.sure[2] += pool.sure[3];
      }
    }
    Map<List<Integer>, double[]> nanos = new HashMap<>();
    entries.forEach(
        (key, sums) -> {
          Pool pool = pools.get(pool(world.owners, shape, key.get(0)));
          double[] its = new double[STATES];
          nanos.put(key, its);
          for (int state = 0; state < STATES; state++) {
            int at = classOf(state) == 3 && pool.known[3] == 0 ? 2 : classOf(state);
            double t = pool.known[at];
            double w = pool.weight[at];
            double e = pool.sure[at];
            boolean waits = key.get(1) == Stacks.NOT_SAMPLED;
            boolean isSure = !waits && key.get(1) != Stacks.STOLEN;
            its[state] = sums[0][state];
            if (t > 0 && w > 0) {
              its[state] =
                  (waits ? 0 : sums[0][state])
                      + t * sums[0][Spot.kind(Spot.sampled(state, Shape.NO_CPU))] / w;
            } else if (t > 0 && e > 0) {
              its[state] =
                  waits ? 0 : sums[0][state] + (isSure ? Math.max(0, sums[0][state]) * t / e : 0);
            }
          }
        });
    return nanos;
  }

  /** RUN, QUEUED, off the CPU, and D, which is one of its own where it is counted. */
  private static int classOf(int state) {
    return state == State.DISK.ordinal() ? 3 : Math.min(2, state);
  }

  private static String pool(Owners owners, Shape shape, int owner) {
    return switch (shape.group()) {
      case THREAD -> "" + owner;
      case PROCESS -> owners.process(owner) + ";" + owners.service(owner);
      case CGROUP -> owners.cgroup(owner) + ";" + owners.service(owner);
      case ANCESTOR -> owners.ancestor(owner) + ";" + owners.service(owner);
      case COMM -> owners.processComm(owner);
      case NONE, CPU, SERVICE -> owners.service(owner);
    };
  }

  @ParameterizedTest
  @ValueSource(longs = {25, 26, 27})
  void trend_anyWindow_isTheWindowBefore(long seed) {
    Random random = new Random(seed);
    World world = new World(Shape.PLAIN, seed == 27 ? 400_000 : 64 << 20);
    Simulation simulation = new Simulation(world, seed);
    int known = 0;
    for (int step = 0; step < 400; step++) {
      simulation.step();
      LogFold fold = world.fold();
      fold.window(random.nextInt(3) == 0 ? 3_000 * MS : 1_000 * MS, Long.MAX_VALUE);
      if (step % 3 == 0) {
        int node = random.nextInt(4) > 0 ? fold.trie.watch.node() : random.nextInt(20);
        node = Math.max(0, Math.min(fold.trie.nodes() - 1, node));
        fold.trie.watch.watch(node);
        Selection.Before before = fold.trend.before(EVERY_STATE, Long.MAX_VALUE);
        if (before != null) {
          known++;
          checkTrend(world, fold, node, before);
        }
      }
      if (step % 50 == 0) {
        world.check();
      }
    }
    assertTrue(known > 20, "known=" + known);
  }

  private static void checkTrend(World world, LogFold fold, int node, Selection.Before before) {
    LogFold then = world.fold(Shape.PLAIN);
    long to = fold.window().tailTime();
    then.hold(to);
    then.catchUp(Long.MAX_VALUE);
    then.range(to - before.windowNanos(), Long.MAX_VALUE);
    assertEquals(to, then.window().headTime());
    assertEquals(before.windowNanos(), then.covered());
    int there = then.tree().find(fold.trie, fold.shape, node);
    boolean same = then.trie.depth(there) == fold.trie.depth(node);
    long expected = same ? then.trie.weight(there, EVERY_STATE) : 0;
    assertEquals((double) Math.max(0, expected), (double) before.weight(), NEAR);
    assertEquals(
        (double) Math.max(0, then.trie.weight(0, EVERY_STATE)), (double) before.total(), NEAR);
    world.drop(then);
  }

  @ParameterizedTest
  @ValueSource(longs = {35, 36})
  void baseline_held_staysWhatItWasAndScales(long seed) {
    World world = new World(Shape.PLAIN, 300_000);
    Simulation simulation = new Simulation(world, seed, true, null);
    Map<String, Long> expected = new TreeMap<>();
    Trie trie = world.fold().trie;
    for (int step = 0; step < 300; step++) {
      simulation.step();
      LogFold fold = world.fold();
      fold.window((step % 3 + 1) * 500L * MS, Long.MAX_VALUE);
      if (step == 100) {
        fold.holdBaseline();
        for (int node = 0; node < trie.nodes(); node++) {
          expected.merge(path(world, node), trie.weight(node, EVERY_STATE), Long::sum);
        }
      }
      if (step >= 100 && step % 20 == 0) {
        Map<String, Long> actual = new TreeMap<>();
        for (int node = 0; node < trie.nodes(); node++) {
          actual.merge(path(world, node), trie.held(node, EVERY_STATE), Long::sum);
        }
        actual.keySet().retainAll(expected.keySet());
        assertTrue(expected.equals(actual), "another baseline at step " + step);
        double scale =
            (double) fold.covered() / (fold.baseline().headTime() - fold.baseline().tailTime());
        assertEquals((long) (expected.get("all") * scale), trie.baseline(0, EVERY_STATE));
      }
    }
  }

  private static String path(World world, int node) {
    return String.join(";", world.fold().tree().reader().path(node));
  }
}
