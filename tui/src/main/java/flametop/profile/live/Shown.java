package flametop.profile.live;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TimeRange;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.OwnerTimes;
import flametop.profile.log.Owners;
import flametop.profile.log.Stacks;
import flametop.profile.log.TaskStates;
import flametop.profile.log.Window;
import flametop.profile.tree.GraphPicture;
import flametop.profile.tree.Matches;
import flametop.profile.tree.Noise;
import flametop.profile.tree.Options;
import flametop.profile.tree.SandwichGraphs;
import flametop.profile.tree.Worker;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleFunction;

/**
 * What is shown of the log: the graph, the halves of a sandwich, the times of tasks; all at one
 * {@link Moment}.
 */
final class Shown {
  /** A trie that is mostly empty is folded anew, if so many entries or nodes are. */
  private static final int LEAST_EMPTY = 8_192;

  private final ChangeLog log;
  private final Owners owners;
  private final Stacks stacks;
  private final Options options;

  /** The noise of samples, by how much longer is what is shown than its baseline. */
  private final DoubleFunction<Noise> noise;

  private final Matches matches = new Matches();
  private final Graph graph;
  private final SandwichGraphs<Graph> sandwich = new SandwichGraphs<>(this::another);
  private int epochs;

  private Moment moment = Moment.ALL;

  /** ns; {@link Long#MAX_VALUE}: nothing is held. */
  private long held = Long.MAX_VALUE;

  /** What is compared with; null: nothing. */
  private Window baseline;

  /** Null while nobody asks for them. */
  private OwnerTimes times;

  private long timesAsked;

  /** The times in the baseline; null if nothing is compared. */
  private OwnerTimes timesBefore;

  private boolean timesBeforeDue;

  Shown(ChangeLog log, Owners owners, Stacks stacks, Options options, DoubleFunction<Noise> noise) {
    this.log = log;
    this.owners = owners;
    this.stacks = stacks;
    this.options = options;
    this.noise = noise;
    graph = graph(options.shape());
  }

  private Graph graph(Shape shape) {
    return new Graph(of -> new Fold(log, owners, stacks, options, of), () -> ++epochs, shape);
  }

  /** A graph that shows the same moment. */
  private Graph another(Shape shape) {
    Graph another = graph(shape);
    another.hold(held);
    moment.range().ifPresent(of -> another.range(of.from(), of.to()));
    if (baseline != null) {
      another.baseline(baseline);
    }
    return another;
  }

  /** The graph that everybody sees. */
  Graph graph() {
    return graph;
  }

  Moment moment() {
    return moment;
  }

  /** Where it is held, ns; {@link Long#MAX_VALUE}: it goes on with the present. */
  long held() {
    return held;
  }

  /**
   * Shows another moment.
   *
   * @param now of the newest batch
   */
  void show(Moment next, long now) {
    if (next.baseline() != moment.baseline()) {
      compare(next.baseline() != 0);
    }
    if (next.frozen() != moment.frozen()) {
      // Within a range it is the present that is held.
      long present = moment.range().isPresent() ? now : graph.fold().window().headTime();
      held = next.frozen() ? present : Long.MAX_VALUE;
      graphs().forEach(g -> g.hold(held));
    }
    if (!next.range().equals(moment.range())) {
      next.range()
          .ifPresentOrElse(
              to -> graphs().forEach(g -> g.range(to.from(), to.to())),
              () -> graphs().forEach(Graph::endRange));
    }
    if (moment.frozen() && !next.frozen() || moment.range().isPresent() && next.range().isEmpty()) {
      endTimes();
    }
    moment = next;
  }

  /** What is shown is what it is compared with from now on, or nothing is. */
  private void compare(boolean on) {
    endTimesBefore();
    if (!on) {
      baseline = null;
      graphs().forEach(Graph::releaseBaseline);
      return;
    }
    baseline = graph.holdBaseline();
    sandwich.end();
    timesBefore = new OwnerTimes(log);
    timesBeforeDue = true;
  }

  /** Lets go of the log, which is cleared next. */
  void close() {
    sandwich.end();
    endTimes();
    endTimesBefore();
    graph.close();
  }

  /** Begins anew, with a log that was cleared, at the present. */
  void restart() {
    moment = Moment.last(moment.windowNanos());
    held = Long.MAX_VALUE;
    baseline = null;
    graph.restart();
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
    List<Graph> graphs = graphs();
    stacks.takeChanged(stack -> graphs.forEach(g -> g.renamed(stack)));
    graph.fold().catchUp(deadline());
  }

  /** What nobody asks for any more is not kept up to date. */
  void forgetUnasked() {
    sandwich.endUnasked();
    if (times != null && System.nanoTime() - timesAsked > SandwichGraphs.PATIENCE_NANOS) {
      endTimes();
    }
  }

  /** Whether {@link #slice} has something to do. */
  boolean due() {
    if (times != null && !times.caughtUp() || timesBeforeDue) {
      return true;
    }
    for (Graph g : graphs()) {
      if (g.due()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Does some of what is due.
   *
   * @return whether a trie was replaced, which held on to much
   */
  boolean slice() {
    long deadline = deadline();
    for (Graph g : graphs()) {
      if (g.due()) {
        return g.slice(deadline);
      }
    }
    if (timesBeforeDue) {
      timesBeforeDue = !timesBefore.to(baseline, deadline);
    } else if (times != null) {
      times.catchUp(deadline);
    }
    return false;
  }

  /** Frees what neither the log nor anything that is shown refers to. */
  void sweep(Sweep sweep, TaskStates heldTasks) {
    List<Fold> folds = new ArrayList<>();
    List<Trie> retired = new ArrayList<>();
    for (Graph g : graphs()) {
      g.folds(folds);
      g.before(retired);
    }
    List<OwnerTimes> allTimes = new ArrayList<>();
    for (OwnerTimes of : new OwnerTimes[] {times, timesBefore}) {
      if (of != null) {
        allTimes.add(of);
      }
    }
    sweep.run(folds, retired, allTimes, heldTasks);
    matches.forget();
    long bytes = owners.bytes() + stacks.bytes();
    for (Graph g : graphs()) {
      // Not what is only being folded: history that goes for that does not come back.
      bytes += g.fold().trie().bytes();
    }
    log.share(bytes);
    graphs().forEach(g -> g.tidy(LEAST_EMPTY));
  }

  /** All that there are. */
  private List<Graph> graphs() {
    List<Graph> halves = sandwich.both();
    return halves.isEmpty() ? List.of(graph) : List.of(graph, halves.get(0), halves.get(1));
  }

  /** What the graph covers. */
  TimeRange covers() {
    return TimeRange.before(graph.fold().window().headTime(), graph.fold().covered());
  }

  /** What the graph is compared with; empty: nothing, or it is still being folded. */
  Optional<TimeRange> comparedWith() {
    return Optional.ofNullable(graph.fold().baseline())
        .map(of -> new TimeRange(of.whole() ? log.startTime() : of.tailTime(), of.headTime()));
  }

  /** Reads the graph at the moment that is shown, or near it where that takes longer. */
  GraphReader read() {
    return read(graph, deadline());
  }

  /** The same exactly there, however long that takes. */
  GraphReader readWhole() {
    graph.finish();
    return read(graph, System.nanoTime() + Long.MAX_VALUE / 2);
  }

  private GraphReader read(Graph of, long deadline) {
    of.look(moment.windowNanos(), deadline);
    return reader(of);
  }

  private GraphReader reader(Graph of) {
    return new GraphReader(of.fold(), owners, stacks, of.epoch());
  }

  private static long deadline() {
    return System.nanoTime() + Worker.SLICE_NANOS;
  }

  GraphPicture picture(GraphQuery query) {
    return graph.picture(query, read(), matches);
  }

  TopReport top(TopQuery query) {
    read();
    return graph.top(query, noise.apply(graph.fold().baselineScale()));
  }

  Sandwich sandwich(SandwichQuery query) {
    sandwich.ask(query, graph.fold().shape());
    for (Graph half : sandwich.both()) {
      half.look(moment.windowNanos(), deadline());
    }
    return sandwich.picture(
        query,
        reader(sandwich.callees()).tree(),
        (half, asked) -> half.picture(asked, reader(half), matches));
  }

  /**
   * Times of processes or threads.
   *
   * @param states what the tasks do at that moment
   */
  TasksReport tasks(TasksQuery query, TaskStates states) {
    timesAsked = System.nanoTime();
    if (times == null) {
      times = new OwnerTimes(log);
    }
    long deadline = timesAsked + Worker.SLICE_NANOS;
    if (moment.range().isPresent()) {
      TimeRange range = moment.range().get();
      times.hold(range.to());
      times.range(range.from(), deadline);
    } else {
      times.hold(held);
      times.catchUp(deadline);
      times.window(moment.windowNanos(), deadline);
    }
    TaskReader reader = new TaskReader(owners, stacks, times, states);
    if (timesBefore != null && !timesBeforeDue && timesBefore.covered() > 0) {
      double scale = (double) times.covered() / timesBefore.covered();
      reader.compare(timesBefore, noise.apply(scale));
    }
    return reader.report(query, graph.fold().shape());
  }
}
