package flametop.profile.live;

import flametop.Stage;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.Matches;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;

/** What the profile's thread does most: 2,000 tasks in 20 processes, 4,000 stacks of 25 frames. */
public class ProfileBenchmark extends Stage {
  private static final int TASKS = 2_000;
  private static final int STACKS = 4_000;
  private static final Pattern SEARCHED = Pattern.compile("function_20_1");

  private final Random random = new Random(1);
  private final Matches matches = new Matches();
  private final GraphQuery query = new GraphQuery(StateSet.ALL, 0, 0, 200, 60, null);
  private World world;
  private GraphReader reader;
  private int passes;

  @Setup
  public void fill() {
    world = new World(new Options(Shape.PLAIN, 48L << 20, true));
    world.batch(1000, false, this::introduce);
    for (int i = 0; i < 100; i++) {
      changedTask();
    }
    reader = world.reader();
  }

  private void introduce() {
    for (int p = 0; p < 20; p++) {
      world.process(p, 100 + p, "process" + p);
    }
    for (int t = 0; t < TASKS; t++) {
      world.task(t, t % 20, 1000 + t, 0, false, "thread" + t % 20);
    }
    for (int s = 0; s < STACKS; s++) {
      String[] path = new String[25];
      for (int i = 0; i < path.length; i++) {
        path[i] = "function_" + i + "_" + random.nextInt(i < 6 ? 3 : 4) + (i > 18 ? "_k" : "");
      }
      world.stack(WalkEnd.ROOT, path);
    }
    world.nameAll();
  }

  private void changeAll() {
    for (int task = 0; task < TASKS; task++) {
      world.changed(time(), task, random.nextInt(STACKS), passes, 0, passes, State.SLEEP);
    }
  }

  private double time() {
    return 1000 + 50.0 * passes;
  }

  /** A task that has another stack than in the pass before: log, accounts and trie. */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void changedTask() {
    world.batch(time(), true, this::changeAll);
    passes++;
  }

  /** A pass in which all tasks sleep on. */
  @Benchmark
  public void passWithoutChange() {
    world.batch(time(), true, () -> {});
    passes++;
  }

  /** What a picture of 200 × 60 cells is asked for. */
  @Benchmark
  public Object slice() {
    return reader.tree().slice(query, 0, 0, 0, matches);
  }

  /** What is told of the selected frame, the root. */
  @Benchmark
  public Selection selection() {
    return reader.selection(0, StateSet.ALL, Long.MAX_VALUE);
  }

  /** A search through all nodes. */
  @Benchmark
  public Snapshot.Search search() {
    return world.fold().tree().search(SEARCHED, StateSet.ALL);
  }

  /** Everything as folded stacks. */
  @Benchmark
  public List<FoldedStack> folded() {
    List<FoldedStack> all = new ArrayList<>();
    reader.folded(StateSet.ALL, 0, false).forEach(all::add);
    return all;
  }

  /** The log folded anew for 3 processes of 20. */
  @Benchmark
  public LogFold filtered() {
    Shape shape = Shape.of(new Shape.Processes(Set.of(100, 101, 102), false));
    LogFold fold = world.store.fold(shape);
    fold.catchUp(Long.MAX_VALUE);
    fold.close();
    return fold;
  }
}
