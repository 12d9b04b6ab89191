package flametop.profile;

import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.regex.Pattern;

/**
 * CPU time of what the profile's thread does most, run by hand: {@code java -cp
 * target/classes:target/test-classes:… \ flametop.profile.ProfileBench}.
 */
final class ProfileBench {
  private static final int TASKS = 2_000;
  private static final int STACKS = 4_000;

  public static void main(String[] args) {
    World world = new World(new Options(RootOrder.COMM, 256L << 20, TaskFilter.NONE, true));
    Random random = new Random(1);
    world.batch(
        1000,
        false,
        () -> {
          for (int p = 0; p < 20; p++) {
            world.process(p, 100 + p, "process" + p);
          }
          for (int t = 0; t < TASKS; t++) {
            world.task(t, t % 20, 1000 + t, 0, false, "thread" + t % 20);
          }
          for (int s = 0; s < STACKS; s++) {
            String[] path = new String[25];
            for (int i = 0; i < path.length; i++) {
              path[i] =
                  "function_"
                      + i
                      + "_"
                      + (i < 6 ? random.nextInt(3) : random.nextInt(4))
                      + (i > 18 ? "_k" : "");
            }
            world.stack(WalkEnd.ROOT, path);
          }
          world.nameAll();
        });
    long begin = now();
    int changes = 0;
    for (int pass = 0; pass < 100; pass++) {
      double time = 1000 + 50 * pass;
      int p = pass;
      world.batch(
          time,
          true,
          () -> {
            for (int i = 0; i < TASKS; i++) {
              world.changed(time, i, random.nextInt(STACKS), p, 0, p, State.SLEEP);
            }
          });
      changes += TASKS;
    }
    Fold fold = world.fold();
    System.out.printf(
        "nodes %,d  entries of the log %,d  of the trie %,d%n",
        fold.trie().nodes(), world.log.entries(), fold.trie().entries());
    System.out.printf("cold change with a stack of 25: %,d ns%n", (now() - begin) / changes);
    begin = now();
    for (int pass = 100; pass < 150; pass++) {
      double time = 1000 + 50 * pass;
      int p = pass;
      world.batch(
          time,
          true,
          () -> {
            for (int i = 0; i < TASKS; i++) {
              world.changed(time, i, random.nextInt(STACKS), p, 0, p, State.SLEEP);
            }
          });
    }
    System.out.printf("warm change with a stack of 25: %,d ns%n", (now() - begin) / (50 * TASKS));
    long entries = world.log.entries();
    begin = now();
    for (int pass = 150; pass < 1150; pass++) {
      world.batch(1000 + 50 * pass, true, () -> {});
    }
    System.out.printf(
        "pass without a change: %,d ns, %d entries%n",
        (now() - begin) / 1000, world.log.entries() - entries);
    Runtime runtime = Runtime.getRuntime();
    System.gc();
    System.out.printf(
        "heap %,d KiB, log %,d KiB%n",
        (runtime.totalMemory() - runtime.freeMemory()) >> 10, world.log.bytes() >> 10);
    GraphReader.Matches matches = new GraphReader.Matches();
    GraphReader reader = world.reader();
    GraphQuery query = new GraphQuery(Long.MAX_VALUE, StateSet.ALL, 0, 0, 200, 60, null);
    time("slice 200 × 60", () -> reader.slice(query, 0, matches).size());
    time("selection of all", () -> reader.selection(0, StateSet.ALL).processes());
    time(
        "search",
        () -> reader.search(Pattern.compile("function_20_1"), StateSet.ALL, matches).count());
    time("folded", () -> reader.folded(StateSet.ALL, 0, false).size());
    begin = now();
    Fold filtered = world.fold(new TaskFilter(Set.of(100, 101, 102), Set.of(), Set.of()));
    filtered.catchUp(Long.MAX_VALUE);
    System.out.printf("filter of 3 processes of 20: %,d ms%n", (now() - begin) / 1_000_000);
    begin = now();
    fold.window(5_000_000_000L, Long.MAX_VALUE);
    System.out.printf("tail through the whole log: %,d ms%n", (now() - begin) / 1_000_000);
  }

  /** CPU time of this thread, which other load on the machine disturbs least. */
  private static long now() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static void time(String what, IntSupplier work) {
    long[] nanos = new long[21];
    int result = 0;
    for (int i = 0; i < nanos.length; i++) {
      long begin = now();
      result = work.getAsInt();
      nanos[i] = now() - begin;
    }
    Arrays.sort(nanos);
    System.out.printf(
        "%s: median %,d µs, worst %,d µs (%,d)%n",
        what, nanos[10] / 1000, nanos[20] / 1000, result);
  }

  private ProfileBench() {}
}
