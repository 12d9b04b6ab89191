package flametop.profile.live;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;

/** What the profile's thread does most, with 4,000 stacks. */
public class ProfileBenchmark extends TreeStage {
  public ProfileBenchmark() {
    super(4_000);
  }

  @Setup
  public void fill() {
    introduce(20, 6, 3, 4);
    for (int i = 0; i < 100; i++) {
      changedTask();
    }
    reader = world.reader();
  }

  /** A task that has another stack than in the pass before: log, accounts and trie. */
  @Benchmark
  @OperationsPerInvocation(TASKS)
  public void changedTask() {
    changeAll();
  }

  /** A pass in which all tasks sleep on. */
  @Benchmark
  public void passWithoutChange() {
    pass(() -> {});
  }

  /** What is told of the selected frame, the root. */
  @Benchmark
  public Selection selection() {
    return selection(0);
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
