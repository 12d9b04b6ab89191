package flametop.profile;

import flametop.sampler.BatchSink;
import flametop.sampler.Counter;
import flametop.sampler.DamagedStreamException;
import flametop.sampler.NameRequests;
import flametop.sampler.StreamFacts;
import flametop.sampler.StreamReader;
import java.nio.ByteBuffer;
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
public final class Profile implements BatchSink, AutoCloseable {
  /** The other panels of a picture, held while frozen. */
  private record Panels(
      int[] tasks,
      Snapshot.Losses losses,
      long present,
      List<CpuRow> cpus,
      float[] busyCpus,
      float[] waitingTasks,
      double[] load,
      int passHz,
      int cpuHz) {}

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
  private final Heap heap = new Heap();
  private final Matches matches = new Matches();

  private Fold fold;
  private Fold next;
  private Trie previous;
  private int epoch = 1;
  private long windowNanos = Long.MAX_VALUE;
  private boolean tailDue;
  private Panels frozen;
  private Quality frozenQuality;
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
    fold = new Fold(log, owners, stacks, options, options.filter());
    Thread thread = new Thread(this::run, "profile");
    thread.setDaemon(true);
    thread.start();
  }

  /** The picture that was asked for. */
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    return request(() -> picture(query));
  }

  /** Processes with their time, whatever the filter is; heaviest first. */
  public CompletableFuture<List<ProcessRow>> processes(long windowNanos, StateSet states) {
    return request(() -> look(windowNanos, SLICE_NANOS).processes(states, false));
  }

  /** Like {@link #processes}, those of one comm together. */
  public CompletableFuture<List<ProcessRow>> comms(long windowNanos, StateSet states) {
    return request(() -> look(windowNanos, SLICE_NANOS).processes(states, true));
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
          while (next != null) {
            refold();
          }
          GraphReader graph = look(windowNanos, Long.MAX_VALUE / 2);
          int node = resolve(zoom);
          return new Extract(moment(graph.path(node)), graph.folded(states, node, samples));
        });
  }

  /** What bounds that which is shown, below a node. */
  public CompletableFuture<Moment> moment(long windowNanos, long zoom) {
    return request(() -> moment(look(windowNanos, SLICE_NANOS).path(resolve(zoom))));
  }

  private Moment moment(String[] zoom) {
    Panels panels = frozen != null ? frozen : panels();
    return new Moment(
        fold.window().headTime(),
        fold.covered(),
        zoom,
        fold.filter(),
        panels.passHz,
        panels.cpuHz,
        panels.losses,
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
    return request(() -> new Kept(owners.size(), stacks.size(), fold.trie().size(), log.bytes()));
  }

  /**
   * Where a node is in the source. What is not known is asked for, and there when it is asked for
   * again later.
   */
  public CompletableFuture<Source> source(long windowNanos, StateSet states, long node) {
    return request(
        () -> look(windowNanos, SLICE_NANOS).source(node, resolve(node), states, places));
  }

  /** What a view shows beside the snapshot. */
  public CompletableFuture<Page> page(PageQuery query) {
    return request(
        () -> {
          if (query instanceof QualityReport.Query q) {
            return (frozenQuality != null ? frozenQuality : intake.quality())
                .report(q.windowNanos());
          }
          if (query instanceof CpuReport.Query) {
            return host.report(frozen != null ? frozen.cpus : host.rows());
          }
          throw new IllegalArgumentException("no page for " + query);
        });
  }

  /** Totals by {@link Counter#ordinal()}, since the stream began. */
  public CompletableFuture<long[]> counters() {
    return request(intake::counters);
  }

  /** Narrows what is shown, the past included. */
  public void filter(TaskFilter filter) {
    enqueue(
        () -> {
          TaskFilter due = next != null ? next.filter() : fold.filter();
          if (!due.equals(filter)) {
            begin(filter);
          }
        });
  }

  /** Holds the moment that is shown; sampling goes on. */
  public void freeze() {
    enqueue(
        () -> {
          if (frozen == null) {
            frozen = panels();
            frozenQuality = intake.quality().held();
            fold.hold(fold.window().headTime());
            if (next != null) {
              next.hold(fold.window().headTime());
            }
          }
        });
  }

  /** Shows the present again. */
  public void thaw() {
    enqueue(
        () -> {
          frozen = null;
          frozenQuality = null;
          fold.hold(Long.MAX_VALUE);
          if (next != null) {
            next.hold(Long.MAX_VALUE);
          }
          if (fold.lost() && (next == null || next.lost())) {
            begin(next != null ? next.filter() : fold.filter());
          }
        });
  }

  /** Starts anew: what was before counts no more. */
  public void restart() {
    enqueue(
        () -> {
          TaskFilter filter = next != null ? next.filter() : fold.filter();
          drop(next);
          next = null;
          frozen = null;
          frozenQuality = null;
          fold.close();
          intake.restart();
          replace(new Fold(log, owners, stacks, options, filter));
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
        boolean due = failure == null && (next != null || tailDue || !fold.caughtUp());
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
    stacks.takeChanged(
        stack -> {
          fold.renamed(stack);
          if (next != null) {
            next.renamed(stack);
          }
        });
    fold.catchUp(System.nanoTime() + SLICE_NANOS);
    if (sweep.due()) {
      sweep();
    }
    heap.tend();
  }

  private void sweep() {
    sweep.run(next == null ? List.of(fold) : List.of(fold, next), previous);
    matches.forget();
    log.share(fold.trie().bytes() + owners.bytes() + stacks.bytes());
    if (next == null && frozen == null && fold.trie().mostlyEmpty(LEAST_EMPTY)) {
      begin(fold.filter());
    }
  }

  /** Begins to fold the past for a filter, beside what is shown. */
  private void begin(TaskFilter filter) {
    drop(next);
    next = new Fold(log, owners, stacks, options, filter);
    if (frozen != null) {
      next.hold(fold.window().headTime());
    }
  }

  private static void drop(Fold fold) {
    if (fold != null) {
      fold.close();
    }
  }

  private void slice() {
    long deadline = System.nanoTime() + SLICE_NANOS;
    if (!fold.caughtUp()) {
      fold.catchUp(deadline);
    } else if (next != null) {
      refold();
    } else {
      tailDue = !fold.window(windowNanos, deadline);
    }
  }

  private void refold() {
    long deadline = System.nanoTime() + SLICE_NANOS;
    next.catchUp(deadline);
    if (next.caughtUp() && next.window(windowNanos, deadline)) {
      fold.close();
      Fold whole = next;
      next = null;
      replace(whole);
      // The trie before held on to much.
      sweep();
    }
  }

  private void replace(Fold with) {
    previous = fold.trie();
    previous.retire();
    fold = with;
    epoch++;
  }

  private GraphReader look(long window, long budget) {
    windowNanos = window;
    long deadline = System.nanoTime() + budget;
    fold.catchUp(deadline);
    tailDue = !fold.window(window, deadline);
    return new GraphReader(fold, owners, stacks, epoch);
  }

  private int resolve(long number) {
    int of = (int) (number >>> 32);
    int node = (int) number;
    if (number == GraphQuery.ROOT || node < 0) {
      return 0;
    }
    if (of == epoch && node < fold.trie().nodes()) {
      return fold.trie().follow(node);
    }
    if (of == epoch - 1 && previous != null && node < previous.nodes()) {
      return fold.trie().find(previous, previous.follow(node));
    }
    return 0;
  }

  private Snapshot picture(GraphQuery query) {
    GraphReader graph = look(query.windowNanos(), SLICE_NANOS);
    Window window = fold.window();
    Panels panels = frozen != null ? frozen : panels();
    boolean begun = intake.now() != Long.MIN_VALUE;
    long compactedTo = log.compactedTo();
    return new Snapshot(
        window.headTime(),
        window.headTime() - log.startTime(),
        fold.covered(),
        frozen != null,
        frozen != null && begun ? intake.now() - window.headTime() : 0,
        next != null && !next.filter().equals(fold.filter()),
        compactedTo > log.startTime()
            ? Math.max(0, window.headTime() - compactedTo)
            : Long.MAX_VALUE,
        graph.tree().slice(query, resolve(query.zoom()), matches),
        graph.tree().total(query.states()),
        graph.selection(resolve(query.selected()), query.states()),
        query.search() == null
            ? null
            : graph.tree().search(query.search(), query.states(), matches),
        panels.tasks,
        losses(),
        panels.present,
        panels.cpus,
        panels.busyCpus,
        panels.waitingTasks,
        panels.load,
        panels.passHz,
        panels.cpuHz,
        host.cost(),
        ended,
        intake.notices());
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

  private Panels panels() {
    return new Panels(
        owners.tasksByState(fold.filter()),
        losses(),
        Math.max(0, intake.now()),
        host.rows(),
        host.busyBySecond(intake.now()),
        host.queuedBySecond(intake.now()),
        host.load(),
        host.passHz(),
        host.cpuHz());
  }
}
