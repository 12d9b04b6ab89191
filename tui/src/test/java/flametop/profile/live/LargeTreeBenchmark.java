package flametop.profile.live;

import flametop.Stage;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.Matches;
import flametop.profile.tree.Noise;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Setup;

/** What a live tick and a key cost on a trie of a million nodes: 48,000 stacks of 25 frames. */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
    value = 1,
    jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g"})
public class LargeTreeBenchmark extends Stage {
  private static final int TASKS = 2_000;
  private static final int STACKS = 48_000;
  private static final int FRAMES = 25;

  private final Random random = new Random(1);
  private final Matches matches = new Matches();
  private final GraphQuery query = new GraphQuery(StateSet.ALL, 0, 0, 200, 60, null);
  private World world;
  private GraphReader reader;
  private final Pattern searched = Pattern.compile("function_20_1");
  private int passes;
  private int typed;

  @Setup
  public void fill() {
    world = new World(new Options(Shape.PLAIN, 48L << 20, true));
    world.batch(1000, false, this::introduce);
    while (world.fold().trie().nodes() < 1_000_000) {
      tick();
    }
    reader = world.reader();
  }

  private void introduce() {
    for (int p = 0; p < 20; p++) {
      world.process(p, 100 + p, "process" + p % 2);
    }
    for (int t = 0; t < TASKS; t++) {
      world.task(t, t % 20, 1000 + t, 0, false, "thread" + t % 20);
    }
    for (int s = 0; s < STACKS; s++) {
      String[] path = new String[FRAMES];
      for (int i = 0; i < path.length; i++) {
        path[i] = "function_" + i + "_" + random.nextInt(i < 3 ? 8 : 30) + (i > 18 ? "_k" : "");
      }
      world.stack(WalkEnd.ROOT, path);
    }
    world.nameAll();
  }

  private void changeAll() {
    for (int task = 0; task < TASKS; task++) {
      world.changed(
          1000 + 50.0 * passes, task, random.nextInt(STACKS), passes, 0, passes, State.SLEEP);
    }
  }

  /** A frame of a task that has another stack than before. */
  @Benchmark
  @OperationsPerInvocation(TASKS * FRAMES)
  public void tick() {
    world.batch(1000 + 50.0 * passes, true, this::changeAll);
    passes++;
  }

  /** An arrow key: another node is selected. */
  @Benchmark
  public Object arrow() {
    int node = random.nextInt(world.fold().trie().nodes());
    Object slice = reader.tree().slice(query, 0, 0, 0, matches);
    return new Object[] {slice, reader.selection(node, StateSet.ALL, Long.MAX_VALUE)};
  }

  /** A picture of 200 × 60 cells. */
  @Benchmark
  public Object slice() {
    return reader.tree().slice(query, 0, 0, 0, matches);
  }

  /** The same node in the next picture. */
  @Benchmark
  public Object selection() {
    return reader.selection(1, StateSet.ALL, Long.MAX_VALUE);
  }

  /** A key typed into a search. */
  @Benchmark
  public Object typed() {
    return world.fold().tree().search(Pattern.compile("function_20_" + typed++ % 10), StateSet.ALL);
  }

  /** A search that is there, in the next picture. */
  @Benchmark
  public Object search() {
    return world.fold().tree().search(searched, StateSet.ALL);
  }

  /** The heaviest functions, after a change. */
  @Benchmark
  public TopReport top() {
    return world
        .fold()
        .tree()
        .top()
        .report(new TopQuery(StateSet.ALL, TopQuery.Order.SELF, 100, null, null), Noise.NONE);
  }
}
