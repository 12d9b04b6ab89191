package flametop.profile.live;

import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.Noise;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Setup;

/** What a live tick and a key cost on a trie of a million nodes: 48,000 stacks. */
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(
    value = 1,
    jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx1g"})
public class LargeTreeBenchmark extends TreeStage {
  private int typed;

  public LargeTreeBenchmark() {
    super(48_000);
  }

  @Setup
  public void fill() {
    introduce(2, 3, 8, 30);
    while (world.fold().trie.nodes() < 1_000_000) {
      tick();
    }
    reader = world.reader();
  }

  /** A frame of a task that has another stack than before. */
  @Benchmark
  @OperationsPerInvocation(TASKS * FRAMES)
  public void tick() {
    changeAll();
  }

  /** An arrow key: another node is selected. */
  @Benchmark
  public Object arrow() {
    int node = random.nextInt(world.fold().trie.nodes());
    return new Object[] {slice(), selection(node)};
  }

  /** The same node in the next picture. */
  @Benchmark
  public Object selection() {
    return selection(1);
  }

  /** A key typed into a search. */
  @Benchmark
  public Object typed() {
    return world.fold().tree().search(Pattern.compile("function_20_" + typed++ % 10), StateSet.ALL);
  }

  /** The heaviest functions, after a change. */
  @Benchmark
  public TopReport top() {
    TopQuery query = new TopQuery(StateSet.ALL, TopQuery.Order.SELF, 100, null, null);
    return world.fold().tree().top().report(query, Noise.NONE);
  }
}
