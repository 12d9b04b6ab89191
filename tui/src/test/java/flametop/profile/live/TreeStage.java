package flametop.profile.live;

import flametop.Stage;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.Random;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;

/** A stage on a live trie: 2,000 tasks in 20 processes, and stacks of 25 frames. */
public abstract class TreeStage extends Stage {
  static final int TASKS = 2_000;
  static final int FRAMES = 25;

  private static final Pattern SEARCHED = Pattern.compile("function_20_1");

  final Random random = new Random(1);
  final World world = new World(Shape.PLAIN, 48 << 20);
  GraphReader reader;
  private final GraphQuery query = new GraphQuery(StateSet.ALL, 0, 0, 200, 60, null);
  private final int stacks;
  private int passes;

  TreeStage(int stacks) {
    this.stacks = stacks;
  }

  /**
   * Introduces processes, tasks and stacks.
   *
   * @param comms of the processes
   * @param outer how many levels have {@code few} functions; the others have {@code many}
   */
  final void introduce(int comms, int outer, int few, int many) {
    world.begin(1000, false);
    for (int p = 0; p < 20; p++) {
      world.process(p, 100 + p, "process" + p % comms);
    }
    for (int t = 0; t < TASKS; t++) {
      world.task(t, t % 20, 1000 + t, 0, false, "thread" + t % 20);
    }
    for (int s = 0; s < stacks; s++) {
      String[] path = new String[FRAMES];
      for (int i = 0; i < path.length; i++) {
        path[i] = "function_" + i + "_" + random.nextInt(i < outer ? few : many);
        path[i] += i > 18 ? "_k" : "";
      }
      world.stack(WalkEnd.ROOT, path);
    }
    world.nameAll();
    world.end();
  }

  /** A pass with these records. */
  final void pass(Runnable records) {
    world.batch(time(), true, records);
    passes++;
  }

  private double time() {
    return 1000 + 50.0 * passes;
  }

  /** A pass that sees each task in another stack than the pass before. */
  final void changeAll() {
    pass(
        () -> {
          for (int task = 0; task < TASKS; task++) {
            int stack = random.nextInt(stacks);
            world.changed(time(), task, stack, passes, 0, passes, State.SLEEP);
          }
        });
  }

  /** What a picture of 200 × 60 cells is asked for. */
  @Benchmark
  public Object slice() {
    return reader.tree().slice(query, 0, 0, 0);
  }

  /** A search that is there, in the next picture. */
  @Benchmark
  public Snapshot.Search search() {
    return world.fold().tree().search(SEARCHED, StateSet.ALL);
  }

  final Selection selection(int node) {
    return reader.selection(node, StateSet.ALL, Long.MAX_VALUE);
  }
}
