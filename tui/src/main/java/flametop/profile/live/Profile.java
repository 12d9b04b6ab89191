package flametop.profile.live;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Page;
import flametop.profile.answer.PageQuery;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.QualityReport;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.Source;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TimeRange;
import flametop.profile.answer.TopQuery;
import flametop.profile.host.HostUsage;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.Names;
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
import flametop.sampler.BatchSink;
import flametop.sampler.Counter;
import flametop.sampler.DamagedStreamException;
import flametop.sampler.NameRequests;
import flametop.sampler.NameSource;
import flametop.sampler.StreamFacts;
import flametop.sampler.StreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Where the threads spend their time: takes the stream, answers requests. It has a thread of its
 * own, which alone touches what it holds; batches and requests stand in one queue, in the order
 * they came. No method waits.
 *
 * <p>Futures complete on that thread: what depends on them must be short or go elsewhere. They fail
 * with {@link IllegalStateException} once the profile is closed or {@link #failure} is there.
 */
public final class Profile implements BatchSink, LiveSource, AutoCloseable {
  /** What is held while frozen beside the graph. */
  private record Held(
      long time, Snapshot.Host host, Snapshot.Losses losses, Quality quality, TaskStates tasks) {}

  /** Work that can wait is done in slices so long, ns. */
  private static final long SLICE_NANOS = 5_000_000;

  /** A trie that is mostly empty is folded anew, if so many entries or nodes are. */
  private static final int LEAST_EMPTY = 8_192;

  private final LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
  private final Options options;
  private final StreamReader reader = new StreamReader(0, false);
  private final Owners owners = new Owners();
  private final Stacks stacks;
  private final Places places;
  private final ChangeLog log;
  private final HostUsage host;
  private final Intake intake;
  private final Sweep sweep;
  private final HeapTrimmer heap = new HeapTrimmer();
  private final Matches matches = new Matches();

  private final Graph graph;
  private int epochs;

  private final SandwichGraphs<Graph> sandwich = new SandwichGraphs<>(this::another);

  /** While they are asked for; null otherwise. */
  private OwnerTimes times;

  private long timesAsked;

  /** What it is compared with; null: nothing. */
  private Window baseline;

  /** The times in that; null if nothing is compared. */
  private OwnerTimes timesBefore;

  /** They are not there yet. */
  private boolean timesBeforeDue;

  /** From and to, ns; null: the last so many ns. */
  private long[] range;

  /** Null: the present is shown. */
  private Held held;

  private boolean ended;
  private boolean damaged;

  private volatile Throwable failure;
  private volatile boolean closed;

  /**
   * @param facts of the stream whose batches come
   * @param names takes the requests for names; called on the profile's thread
   */
  public Profile(StreamFacts facts, Options options, NameRequests names) {
    this.options = options;
    Names known = new Names(names);
    stacks = new Stacks(known);
    log = new ChangeLog(options.historyBytes(), owners);
    host = new HostUsage(facts);
    places = new Places(names);
    intake = new Intake(log, owners, stacks, known, places, host);
    sweep = new Sweep(log, intake, owners, stacks);
    graph = graph(options.shape());
    Thread thread = new Thread(this::run, "profile");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Has what a profile needs of the JDK and of its caches initialized, while the kernel side is
   * being opened.
   */
  public static void prepare() {
    new Owners().processSeen(0, 0, 0, "", "");
    Names names = new Names(null);
    Names.Place place = new Names.Place("", "", 0);
    names.answered(place, new Names.Name(NameSource.UNKNOWN, ""));
    names.want(0, place);
  }

  private Graph graph(Shape shape) {
    return new Graph(of -> new Fold(log, owners, stacks, options, of), () -> ++epochs, shape);
  }

  /** One that shows the moment or range that the others do. */
  private Graph another(Shape shape) {
    Graph another = graph(shape);
    if (held != null) {
      another.hold(held.time);
    }
    if (range != null) {
      another.range(range[0], range[1]);
    }
    if (baseline != null) {
      another.baseline(baseline);
    }
    return another;
  }

  /** The picture that was asked for. */
  @Override
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    return request(() -> picture(query));
  }

  /** Processes with their time, whatever the shape is; heaviest first. */
  @Override
  public CompletableFuture<List<ProcessRow>> processes(long windowNanos, StateSet states) {
    return request(() -> look(graph, windowNanos, SLICE_NANOS).processes(states, tasks(), false));
  }

  /** Like {@link #processes}, those of one comm together. */
  @Override
  public CompletableFuture<List<ProcessRow>> comms(long windowNanos, StateSet states) {
    return request(() -> look(graph, windowNanos, SLICE_NANOS).processes(states, tasks(), true));
  }

  /** Like {@link #processes}, those of one control group together. */
  @Override
  public CompletableFuture<List<ProcessRow>> cgroups(long windowNanos, StateSet states) {
    return request(() -> look(graph, windowNanos, SLICE_NANOS).cgroups(states, tasks()));
  }

  /**
   * The stacks, of all batches that were taken before, or of the frozen moment.
   *
   * @param zoom only those that pass through this node; {@link GraphQuery#ROOT} for all
   * @param samples values are passes seen (off the CPU) and samples of the CPU clock (on it)
   *     instead of ns
   */
  public CompletableFuture<Extract> extract(
      long windowNanos, StateSet states, long zoom, boolean samples) {
    return request(
        () -> {
          graph.finish();
          GraphReader read = look(graph, windowNanos, Long.MAX_VALUE / 2);
          int node = graph.resolve(zoom);
          return new Extract(
              scope(read.tree().path(node), Optional.empty()), read.folded(states, node, samples));
        });
  }

  /** What bounds that which is shown, below a node. */
  public CompletableFuture<Extract.Scope> scope(long windowNanos, long zoom) {
    return request(
        () ->
            scope(
                look(graph, windowNanos, SLICE_NANOS).tree().path(graph.resolve(zoom)),
                baselineTime()));
  }

  private Extract.Scope scope(String[] zoom, Optional<TimeRange> comparedWith) {
    Snapshot.Host state = hostState();
    TimeRange time = graphTime();
    return new Extract.Scope(
        time,
        range == null ? 0 : Math.max(0, state.time() - time.to()),
        comparedWith,
        zoom,
        graph.fold().shape(),
        state.passHz(),
        state.cpuHz(),
        held != null ? held.losses : losses(),
        ended);
  }

  /**
   * How much is kept.
   *
   * @param owners and processes
   * @param stacks and frames, functions
   * @param trie entries and nodes
   */
  record Kept(int owners, int stacks, int trie, long logBytes) {}

  CompletableFuture<Kept> kept() {
    return request(
        () -> new Kept(owners.size(), stacks.size(), graph.fold().trie().size(), log.bytes()));
  }

  /**
   * Where a node is in the source. What is not known is asked for, and there when it is asked for
   * again later.
   */
  @Override
  public CompletableFuture<Source> source(long windowNanos, StateSet states, long node) {
    return request(
        () ->
            look(graph, windowNanos, SLICE_NANOS)
                .source(node, graph.resolve(node), states, places));
  }

  /**
   * What a view shows beside the snapshot. A {@link Sandwich} is folded out of the past when it is
   * asked for first, and kept up to date for as long as it is asked for.
   */
  @Override
  public CompletableFuture<Page> page(PageQuery query) {
    return request(
        () -> {
          if (query instanceof QualityReport.Query q) {
            return (held != null ? held.quality : intake.quality()).report(q.windowNanos());
          }
          if (query instanceof CpuReport.Query) {
            return host.report(held != null ? held.host.cpus() : host.rows());
          }
          if (query instanceof TopQuery q) {
            look(graph, q.windowNanos(), SLICE_NANOS);
            return graph.top(q, noise(graph.fold().baselineScale()));
          }
          if (query instanceof TasksQuery q) {
            return report(q);
          }
          if (query instanceof SandwichQuery q) {
            return picture(q);
          }
          throw new IllegalArgumentException("no page for " + query);
        });
  }

  /** Totals by {@link Counter#ordinal()}, since the stream began. */
  public CompletableFuture<long[]> counters() {
    return request(intake::counters);
  }

  /** What is shown takes another shape, the past included. */
  @Override
  public void shape(Shape shape) {
    enqueue(() -> graph.shape(shape));
  }

  /** Holds the moment that is shown; sampling goes on. */
  @Override
  public void freeze() {
    enqueue(
        () -> {
          if (held == null) {
            // Within a range it is the present that is held.
            long time = range == null ? graph.fold().window().headTime() : intake.now();
            held = new Held(time, hostState(), losses(), intake.quality().held(), tasks());
            graphs().forEach(g -> g.hold(time));
          }
        });
  }

  /** Shows the present again. */
  @Override
  public void thaw() {
    enqueue(
        () -> {
          held = null;
          graphs().forEach(g -> g.hold(Long.MAX_VALUE));
          endTimes();
        });
  }

  /**
   * What is shown now is what is shown from now on is compared with: slices have a {@link
   * GraphSlice#baseline}.
   */
  @Override
  public void holdBaseline() {
    enqueue(
        () -> {
          baseline = graph.holdBaseline();
          sandwich.end();
          endTimesBefore();
          timesBefore = new OwnerTimes(log);
          timesBeforeDue = true;
        });
  }

  /** Nothing is compared any more. */
  @Override
  public void releaseBaseline() {
    enqueue(
        () -> {
          baseline = null;
          graphs().forEach(Graph::releaseBaseline);
          endTimesBefore();
        });
  }

  /**
   * Shows what was between two moments of the past, ns; sampling goes on. Where only sums are left
   * of it, what is shown is the nearest that there is: {@link Snapshot.Covered#graph} tells.
   */
  @Override
  public void range(long from, long to) {
    enqueue(
        () -> {
          range = new long[] {from, to};
          graphs().forEach(g -> g.range(from, to));
        });
  }

  /** Shows the last so many ns again, as each query says. */
  @Override
  public void endRange() {
    enqueue(
        () -> {
          range = null;
          graphs().forEach(Graph::endRange);
          endTimes();
        });
  }

  /** Starts anew: what was before counts no more. */
  @Override
  public void restart() {
    enqueue(
        () -> {
          held = null;
          range = null;
          baseline = null;
          sandwich.end();
          endTimes();
          endTimesBefore();
          graph.close();
          intake.restart();
          graph.restart();
        });
  }

  @Override
  public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
    if (!offer(
        () -> {
          try {
            read(batch);
          } finally {
            release.accept(batch);
          }
        })) {
      release.accept(batch);
    }
  }

  @Override
  public void ended(Throwable cause) {
    enqueue(
        () -> {
          ended = true;
          if (cause != null) {
            intake.tell(
                "sampling ended: "
                    + (cause.getMessage() == null ? cause.toString() : cause.getMessage()));
          }
        });
  }

  /** Why the profile can go on no more, if so: a defect, or no memory. */
  public Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }

  /** Ends the thread when what came before is done. */
  @Override
  public void close() {
    offer(() -> closed = true);
  }

  private <T> CompletableFuture<T> request(Supplier<T> answer) {
    CompletableFuture<T> future = new CompletableFuture<>();
    Runnable run =
        () -> {
          if (failure != null) {
            future.completeExceptionally(
                new IllegalStateException("the profile failed: " + failure, failure));
            return;
          }
          if (closed) {
            future.completeExceptionally(new IllegalStateException("the profile is closed"));
            return;
          }
          T value;
          try {
            value = answer.get();
          } catch (Throwable t) {
            failure = t;
            future.completeExceptionally(new IllegalStateException("the profile failed: " + t, t));
            return;
          }
          future.complete(value);
        };
    if (!offer(run)) {
      run.run();
    }
    return future;
  }

  private void enqueue(Runnable change) {
    offer(
        () -> {
          if (failure == null && !closed) {
            change.run();
          }
        });
  }

  /** False if nobody will run it. */
  private boolean offer(Runnable item) {
    if (closed) {
      return false;
    }
    queue.add(item);
    // The thread may have ended in between; then it is for this one to take the item back.
    return !closed || !queue.remove(item);
  }

  private void run() {
    while (!closed) {
      try {
        boolean due = failure == null && due();
        Runnable item = due ? queue.poll() : queue.take();
        if (item != null) {
          item.run();
        }
        if (due && failure == null) {
          slice();
        }
      } catch (InterruptedException e) {
        closed = true;
      } catch (Throwable t) {
        failure = t;
      }
    }
    for (Runnable item = queue.poll(); item != null; item = queue.poll()) {
      item.run();
    }
  }

  private void read(ByteBuffer batch) {
    if (damaged || failure != null || closed) {
      return;
    }
    try {
      intake.quality().streamed(batch.remaining());
      reader.read(batch, intake);
    } catch (DamagedStreamException e) {
      damaged = true;
      intake.tell(e.getMessage());
    }
    List<Graph> graphs = graphs();
    stacks.takeChanged(stack -> graphs.forEach(g -> g.renamed(stack)));
    graph.fold().catchUp(System.nanoTime() + SLICE_NANOS);
    if (sweep.due()) {
      sweep();
    }
    sandwich.endUnasked();
    if (times != null && System.nanoTime() - timesAsked > SandwichGraphs.PATIENCE_NANOS) {
      endTimes();
    }
    heap.tend();
  }

  /** All that there are. */
  private List<Graph> graphs() {
    List<Graph> halves = sandwich.both();
    return halves.isEmpty() ? List.of(graph) : List.of(graph, halves.get(0), halves.get(1));
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

  private void sweep() {
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
    sweep.run(folds, retired, allTimes, held == null ? null : held.tasks);
    matches.forget();
    long bytes = owners.bytes() + stacks.bytes();
    for (Graph g : graphs()) {
      // Not what is only being folded: history that goes for that does not come back.
      bytes += g.fold().trie().bytes();
    }
    log.share(bytes);
    graphs().forEach(g -> g.tidy(LEAST_EMPTY));
  }

  private boolean due() {
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

  private void slice() {
    long deadline = System.nanoTime() + SLICE_NANOS;
    for (Graph g : graphs()) {
      if (g.due()) {
        if (g.slice(deadline)) {
          // The trie before held on to much.
          sweep();
        }
        return;
      }
    }
    if (timesBeforeDue) {
      timesBeforeDue = !timesBefore.to(baseline, deadline);
    } else if (times != null) {
      times.catchUp(deadline);
    }
  }

  private GraphReader look(Graph at, long window, long budget) {
    at.look(window, System.nanoTime() + budget);
    return reader(at);
  }

  private GraphReader reader(Graph at) {
    return new GraphReader(at.fold(), owners, stacks, at.epoch());
  }

  /** Those of the frozen moment, or of the present. */
  private TaskStates tasks() {
    return held != null ? held.tasks : new TaskStates(owners, intake.accounts(), intake.now());
  }

  private TasksReport report(TasksQuery query) {
    timesAsked = System.nanoTime();
    if (times == null) {
      times = new OwnerTimes(log);
    }
    long deadline = timesAsked + SLICE_NANOS;
    if (range != null) {
      times.hold(range[1]);
      times.range(range[0], deadline);
    } else {
      times.hold(held != null ? held.time : Long.MAX_VALUE);
      times.catchUp(deadline);
      times.window(query.windowNanos(), deadline);
    }
    TaskReader reader = new TaskReader(owners, stacks, times, tasks());
    if (timesBefore != null && !timesBeforeDue && timesBefore.covered() > 0) {
      double scale = (double) times.covered() / timesBefore.covered();
      reader.compare(timesBefore, noise(scale));
    }
    return reader.report(query, graph.fold().shape());
  }

  /** That of the samples now. */
  private Noise noise(double scale) {
    return Noise.of(host.passHz(), host.cpuHz(), scale);
  }

  private Sandwich picture(SandwichQuery query) {
    sandwich.ask(query, graph.fold().shape());
    for (Graph half : sandwich.both()) {
      half.look(query.windowNanos(), System.nanoTime() + SLICE_NANOS);
    }
    return sandwich.picture(
        query,
        reader(sandwich.callees()).tree(),
        (half, asked) -> half.picture(asked, reader(half), matches));
  }

  private Snapshot picture(GraphQuery query) {
    GraphPicture picture =
        graph.picture(query, look(graph, query.windowNanos(), SLICE_NANOS), matches);
    Snapshot.Host state = hostState();
    return new Snapshot(
        picture.slice(),
        picture.total(),
        picture.selection(),
        picture.search(),
        graph.fold().shape().reversed(),
        graph.refolding(),
        new Snapshot.Live(coveredTime(state.time()), state, losses(), host.cost(), ended),
        intake.notices());
  }

  private Snapshot.Covered coveredTime(long present) {
    boolean begun = intake.now() != Long.MIN_VALUE;
    long compactedTo = log.compactedTo();
    return new Snapshot.Covered(
        graphTime(),
        range != null,
        held != null,
        held != null && begun ? intake.now() - held.time : 0,
        baselineTime(),
        begun ? Math.max(0, present - log.startTime()) : 0,
        compactedTo > log.startTime() ? Math.max(0, present - compactedTo) : Long.MAX_VALUE);
  }

  /** What the graph covers. */
  private TimeRange graphTime() {
    return TimeRange.before(graph.fold().window().headTime(), graph.fold().covered());
  }

  /** What the graph is compared with; empty: nothing, or it is still being folded. */
  private Optional<TimeRange> baselineTime() {
    return Optional.ofNullable(graph.fold().baseline())
        .map(of -> new TimeRange(of.whole() ? log.startTime() : of.tailTime(), of.headTime()));
  }

  /** They go on while the rest is frozen. */
  private Snapshot.Losses losses() {
    long walked = intake.since(Counter.WALKED);
    return new Snapshot.Losses(
        intake.since(Counter.CPU_DROPPED),
        intake.since(Counter.PASSES_LATE),
        walked > 0 ? (double) intake.since(Counter.SHORT) / walked : 0,
        host.ownShare());
  }

  /** The machine at the moment that is held, or now. */
  private Snapshot.Host hostState() {
    if (held != null) {
      return held.host;
    }
    long now = Math.max(0, intake.now());
    return new Snapshot.Host(
        now,
        owners.tasksByState(graph.fold().shape()),
        host.rows(),
        host.busyBySecond(intake.now()),
        host.queuedBySecond(intake.now()),
        host.load(),
        host.passHz(),
        host.cpuHz());
  }
}
