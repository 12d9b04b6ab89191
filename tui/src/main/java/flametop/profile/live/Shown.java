package flametop.profile.live;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TimeRange;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.log.OwnerTimes;
import flametop.profile.log.TaskStates;
import flametop.profile.log.Window;
import flametop.profile.tree.Graph;
import flametop.profile.tree.GraphPicture;
import flametop.profile.tree.Graphs;
import flametop.profile.tree.Noise;
import flametop.profile.tree.Paths;
import flametop.profile.tree.Worker;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.DoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * All that is shown of a log, at one {@link Moment}: the graph, the halves of a sandwich, the times
 * of tasks.
 */
final class Shown {
  /** A trie with so many empty entries or nodes is folded anew, if most are empty. */
  private static final int LEAST_EMPTY = 8_192;

  final LogStore store;

  /**
   * The noise of samples, by the length of the shown window divided by the length of its baseline.
   */
  private final DoubleFunction<Noise> noise;

  private final Graphs<LogFold> graphs;

  /** The times of tasks; null while nobody asks for them. */
  private @Nullable OwnerTimes times;

  private long timesAsked;

  /** The times in the baseline; null if nothing is compared. */
  private @Nullable OwnerTimes timesBefore;

  private boolean timesBeforeDue;

  Shown(LogStore store, DoubleFunction<Noise> noise) {
    this.store = store;
    this.noise = noise;
    graphs = new Graphs<>(store, store.options.shape());
  }

  /** The graph that everybody sees. */
  Graph<LogFold> graph() {
    return graphs.graph();
  }

  private LogFold fold() {
    return graph().shown();
  }

  Moment moment() {
    return store.moment();
  }

  /**
   * Shows another moment.
   *
   * @param now of the newest batch
   */
  void show(Moment next, long now) {
    Moment moment = moment();
    if (next.baseline() != moment.baseline()) {
      compare(next.baseline() != 0);
    }
    boolean moves = next.frozen() != moment.frozen() || !next.range().equals(moment.range());
    long held = store.held();
    if (next.frozen() != moment.frozen()) {
      // Within a range it is the present that is held.
      long present = moment.range().isPresent() ? now : fold().window().headTime();
      held = next.frozen() ? present : Long.MAX_VALUE;
    }
    store.show(next, held);
    for (Graph<LogFold> graph : graphs.all()) {
      graph.each(LogFold::move);
      if (moves) {
        graph.update();
      }
    }
    if (moment.frozen() && !next.frozen() || moment.range().isPresent() && next.range().isEmpty()) {
      endTimes();
    }
  }

  /**
   * Shows the same moment as another measure, in the same shape, compared with nothing.
   *
   * @param other of another measure of the same stream
   */
  void take(Shown other) {
    store.show(other.moment().comparedNoMore(), other.store.held());
    graph().restart(other.graph().shape());
  }

  /** Compares later windows with the window that is shown now, or with none. */
  private void compare(boolean on) {
    endTimesBefore();
    if (!on) {
      store.compare(null);
      return;
    }
    fold().refresh(Long.MAX_VALUE);
    store.compare(fold().holdBaseline());
    if (graph().hasNext()) {
      graph().refold();
    }
    graphs.endSandwich();
    timesBefore = new OwnerTimes(store.log);
    timesBeforeDue = true;
  }

  /** Lets go of the log, which is cleared next. */
  void close() {
    graphs.endSandwich();
    endTimes();
    endTimesBefore();
    graph().close();
  }

  private void endTimes() {
    if (times != null) {
      times.close();
      times = null;
    }
  }

  private void endTimesBefore() {
    if (timesBefore != null) {
      timesBefore.close();
      timesBefore = null;
      timesBeforeDue = false;
    }
  }

  /** Follows the log to its end, as far as a slice goes. */
  void follow() {
    store.stacks.takeChanged(this::renamed);
    fold().catchUp(deadline());
  }

  private void renamed(int stack) {
    graphs.all().forEach(graph -> graph.each(fold -> fold.renamed(stack)));
  }

  /** Drops the sandwich and the times of tasks if nobody has asked for them for long. */
  void forgetUnasked() {
    graphs.endUnasked();
    if (times != null && System.nanoTime() - timesAsked > Graphs.PATIENCE_NANOS) {
      endTimes();
    }
  }

  /** Whether {@link #slice} has something to do. */
  boolean due() {
    return times != null && !times.caughtUp() || timesBeforeDue || graphs.isDue();
  }

  /**
   * Does some of the work.
   *
   * @return whether a trie was replaced: what it referred to can be freed
   */
  boolean slice() {
    long deadline = deadline();
    if (graphs.isDue()) {
      return graphs.slice(deadline);
    }
    Window baseline = store.baseline();
    if (timesBeforeDue && timesBefore != null && baseline != null) {
      timesBeforeDue = !timesBefore.to(baseline, deadline);
    } else if (times != null) {
      times.catchUp(deadline);
    }
    return false;
  }

  /**
   * Shows all since a time, and forgets what was before, nodes included.
   *
   * @param now of the newest batch
   */
  void beginAt(long time, long now) {
    show(Moment.ALL.beginningAt(time), now);
    // The tail has to be there: it would take what is forgotten along.
    graph().finish();
    fold().refresh(System.nanoTime() + Long.MAX_VALUE / 2);
    store.log.forget(time);
    graph().renew();
  }

  /** Frees what neither the log nor anything that is shown refers to. */
  void sweep(Sweep sweep, @Nullable TaskStates heldTasks) {
    List<LogFold> folds = new ArrayList<>();
    List<Paths> retired = new ArrayList<>();
    for (Graph<LogFold> graph : graphs.all()) {
      graph.each(folds::add);
      graph.before(retired);
    }
    List<OwnerTimes> allTimes = new ArrayList<>(Arrays.asList(times, timesBefore));
    allTimes.removeIf(Objects::isNull);
    sweep.run(folds, retired, allTimes, heldTasks);
    long bytes = store.owners.bytes() + store.stacks.bytes();
    for (Graph<LogFold> graph : graphs.all()) {
      // Not what is only being folded: history that goes for that does not come back.
      bytes += graph.shown().trie.bytes();
    }
    store.log.share(bytes);
    graphs.all().forEach(this::tidy);
  }

  /** Folds anew what is mostly empty, unless history that is shown may be gone from the log. */
  private void tidy(Graph<LogFold> graph) {
    if (!graph.hasNext()
        && store.baseline() == null
        && store.limit() == Long.MAX_VALUE
        && graph.shown().trie.mostlyEmpty(LEAST_EMPTY)) {
      graph.refold();
    }
  }

  /** The time that the graph covers. */
  TimeRange covers() {
    return TimeRange.before(fold().window().headTime(), fold().covered());
  }

  /** The time that the graph is compared with; empty: none, or that is still being folded. */
  Optional<TimeRange> comparedWith() {
    return Optional.ofNullable(fold().baseline())
        .map(of -> new TimeRange(of.whole() ? fold().startTime() : of.tailTime(), of.headTime()));
  }

  /** Reads the graph at its moment, or near that moment where the way there is long. */
  GraphReader read() {
    return read(deadline());
  }

  /** Reads the graph exactly at its moment, however long the way there is. */
  GraphReader readWhole() {
    graph().finish();
    return read(System.nanoTime() + Long.MAX_VALUE / 2);
  }

  private GraphReader read(long deadline) {
    fold().refresh(deadline);
    return new GraphReader(fold());
  }

  private static long deadline() {
    return System.nanoTime() + Worker.SLICE_NANOS;
  }

  GraphPicture picture(GraphQuery query) {
    fold().refresh(deadline());
    return graph().picture(query);
  }

  TopReport top(TopQuery query) {
    fold().refresh(deadline());
    return graph().top(query, noise.apply(fold().baselineScale()));
  }

  Sandwich sandwich(SandwichQuery query) {
    graphs.ask(query);
    return graphs.sandwich(query, Worker.SLICE_NANOS);
  }

  /**
   * Times of processes or threads.
   *
   * @param states what the tasks do at that moment
   */
  TasksReport tasks(TasksQuery query, TaskStates states) {
    timesAsked = System.nanoTime();
    if (times == null) {
      times = new OwnerTimes(store.log);
    }
    long deadline = timesAsked + Worker.SLICE_NANOS;
    if (moment().range().isPresent()) {
      TimeRange range = moment().range().get();
      times.hold(store.limit());
      times.range(range.from(), deadline);
    } else {
      times.hold(store.held());
      times.catchUp(deadline);
      times.window(moment().span(times.window().headTime()), deadline);
    }
    OwnerTimes before = timesBeforeDue ? null : timesBefore;
    if (before == null || before.covered() <= 0) {
      return new TaskReader(store, times, states, null, Noise.NONE).report(query, fold().shape);
    }
    Noise chance = noise.apply((double) times.covered() / before.covered());
    return new TaskReader(store, times, states, before, chance).report(query, fold().shape);
  }
}
