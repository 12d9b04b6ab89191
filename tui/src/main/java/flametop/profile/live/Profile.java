package flametop.profile.live;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.HeatMap;
import flametop.profile.answer.LiveSource;
import flametop.profile.answer.Measure;
import flametop.profile.answer.Moment;
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
import flametop.profile.answer.TimeRange;
import flametop.profile.answer.TopQuery;
import flametop.profile.host.HostUsage;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.Names;
import flametop.profile.log.Owners;
import flametop.profile.log.Stacks;
import flametop.profile.tree.GraphPicture;
import flametop.profile.tree.Noise;
import flametop.profile.tree.Options;
import flametop.profile.tree.Worker;
import flametop.sampler.BatchSink;
import flametop.sampler.Counter;
import flametop.sampler.DamagedStreamException;
import flametop.sampler.NameRequests;
import flametop.sampler.NameSource;
import flametop.sampler.StreamFacts;
import flametop.sampler.StreamReader;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The live source: takes the stream, and answers requests about the time of threads. A profile has
 * a thread of its own, which alone touches the profile's data; batches and requests stand in one
 * queue, in the order in which they came. No method waits.
 *
 * <p>Futures complete on that thread: a step that depends on them must be short or run elsewhere.
 * Futures fail with {@link IllegalStateException} once the profile is closed or {@link #failure} is
 * there.
 */
public final class Profile implements BatchSink, LiveSource, AutoCloseable {
  private final StreamReader reader = new StreamReader(0, false);
  private final StreamFacts facts;
  private final Owners owners = new Owners();
  private final Stacks stacks;
  private final Places places;
  private final ChangeLog log;
  private final HostUsage host;
  private final Intake intake;
  private final Sweep sweep;
  private final HeapTrimmer heap = new HeapTrimmer();
  private final Panels panels;
  private final EventSources events;
  private final Options options;

  /** The time of tasks. */
  private final Shown time;

  /** The measure that is shown: {@link #time}, or the measure of {@link #source}. */
  private Shown shown;

  /** The source of events that is shown; null if the time of tasks is shown. */
  private @Nullable EventSource source;

  private int epochs;
  private boolean ended;
  private boolean damaged;

  /** The thread that alone touches the fields above. */
  private final Worker worker;

  /**
   * @param facts of the stream whose batches come
   * @param names takes the requests for names; called on the profile's thread
   */
  public Profile(StreamFacts facts, Options options, NameRequests names) {
    this.facts = facts;
    this.options = options;
    Names known = new Names(names);
    stacks = new Stacks(known);
    log = new ChangeLog(options.historyBytes(), owners);
    host = new HostUsage(facts);
    places = new Places(names);
    events = new EventSources(owners, options.historyBytes());
    intake = new Intake(log, owners, stacks, known, places, host, events);
    sweep = new Sweep(log, intake, owners, stacks);
    panels = new Panels(intake, host, owners);
    time = shown(log);
    shown = time;
    worker = new Worker("profile", () -> shown.due(), this::slice);
  }

  private Shown shown(ChangeLog of) {
    return new Shown(new LogStore(of, owners, stacks, options, () -> ++epochs), this::noise);
  }

  /**
   * Initializes the parts of the JDK and the caches that a profile needs, while the kernel side is
   * being opened.
   */
  public static void prepare() {
    new Owners().processes().seen(0, 0, 0, "", "");
    Names names = new Names((frames, count) -> {});
    Names.Place place = new Names.Place("", "", 0);
    names.answered(place, new Names.Name(NameSource.UNKNOWN, ""));
    names.want(0, place);
  }

  /** The picture that was asked for. */
  @Override
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    return worker.request(() -> picture(query));
  }

  /** The processes, comms or groups with their time, whatever the shape is; heaviest first. */
  @Override
  public CompletableFuture<List<ProcessRow>> rows(ProcessRow.By by, StateSet states) {
    return worker.request(
        () ->
            switch (by) {
              case PROCESS -> shown.read().processes(states, panels.tasks(), false);
              case COMM -> shown.read().processes(states, panels.tasks(), true);
              case CGROUP -> shown.read().cgroups(states, panels.tasks());
              case STATE, SAMPLE_TYPE ->
                  throw new IllegalArgumentException("the snapshot has them");
            });
  }

  /**
   * The stacks of all batches that were taken before, or of the frozen moment.
   *
   * @param zoom takes only stacks that pass through this node; {@link GraphQuery#ROOT} for all
   * @param samples values are passes seen (off the CPU) and samples of the CPU clock (on it)
   *     instead of amounts
   */
  public CompletableFuture<Extract> extract(StateSet states, long zoom, boolean samples) {
    return worker.request(
        () -> {
          GraphReader read = shown.readWhole();
          int node = shown.graph().resolve(zoom);
          return new Extract(
              scope(read.tree().path(node), Optional.empty()),
              samples ? Measure.SAMPLES : measure(),
              read.folded(states, node, samples),
              source == null || !shown.moment().isAll() ? Extract.NO_TOTAL : source.exactTotal());
        });
  }

  /** The scope of the shown graph below a node. */
  public CompletableFuture<Extract.Scope> scope(long zoom) {
    return worker.request(
        () -> scope(shown.read().tree().path(shown.graph().resolve(zoom)), shown.comparedWith()));
  }

  private Extract.Scope scope(String[] zoom, Optional<TimeRange> comparedWith) {
    Shape shape = shown.graph().shown().shape;
    Snapshot.Host state = panels.host(shape);
    TimeRange covers = shown.covers();
    return new Extract.Scope(
        covers,
        shown.moment().range().isEmpty() ? 0 : Math.max(0, state.time() - covers.to()),
        comparedWith,
        zoom,
        shape,
        state.passHz(),
        state.cpuHz(),
        panels.shownLosses(),
        Optional.ofNullable(source).map(of -> of.row(false)),
        ended);
  }

  /**
   * How many things the profile keeps.
   *
   * @param owners owners and processes
   * @param stacks stacks, frames and functions
   * @param trie entries and nodes of the trie
   */
  record Kept(int owners, int stacks, int trie, long logBytes) {}

  CompletableFuture<Kept> kept() {
    return worker.request(
        () ->
            new Kept(owners.size(), stacks.size(), shown.graph().shown().trie.size(), log.bytes()));
  }

  /**
   * The source lines of a node. Lines that are not known are asked for, and are in a later answer.
   */
  @Override
  public CompletableFuture<Source> source(StateSet states, long node) {
    return worker.request(
        () -> shown.read().source(node, shown.graph().resolve(node), states, places));
  }

  /**
   * The page that a view shows beside the snapshot. A {@link Sandwich} is folded out of the past at
   * the first request, and kept up to date as long as requests come.
   */
  @Override
  public CompletableFuture<Page> page(PageQuery query) {
    return worker.request(
        () -> {
          if (query instanceof QualityReport.Query) {
            return panels.quality().report(shown.moment().span(intake.now()));
          }
          if (query instanceof CpuReport.Query) {
            return panels.cpus();
          }
          if (query instanceof HeatMap.Query) {
            return panels.heatMap(log.startTime());
          }
          if (query instanceof TopQuery q) {
            return shown.top(q);
          }
          if (query instanceof TasksQuery q) {
            return shown.tasks(q, panels.tasks());
          }
          if (query instanceof SandwichQuery q) {
            return shown.sandwich(q);
          }
          throw new IllegalArgumentException("no page for " + query);
        });
  }

  /** Totals by {@link Counter#ordinal()}, since the stream began. */
  public CompletableFuture<long[]> counters() {
    return worker.request(intake::counters);
  }

  /** Gives the graph another shape, the past included. */
  @Override
  public void shape(Shape shape) {
    worker.enqueue(() -> shown.graph().shape(shape));
  }

  @Override
  public void measure(int number) {
    worker.enqueue(() -> turnTo(number));
  }

  private void turnTo(int number) {
    EventSource next = number == TIME ? null : events.get(number);
    if (next == source || next == null && number != TIME) {
      return;
    }
    Shown to = next == null ? time : shown(next.log);
    to.take(shown);
    shown.close();
    source = next;
    shown = to;
  }

  /** A source of events is switched on: it is listed before the stream tells of it. */
  public void asked(int number, String spec) {
    worker.enqueue(
        () -> {
          if (!ended) {
            events.asked(number, spec);
          }
        });
  }

  /** A source of events counts no more: whatever of it is shown gives way to time. */
  public void remove(int number) {
    worker.enqueue(
        () -> {
          if (source != null && source.number == number) {
            turnTo(TIME);
          }
          events.remove(number);
        });
  }

  /** The measure of the shown graph. */
  private Measure measure() {
    return source == null ? options.measure() : source.measure();
  }

  /**
   * Shows another moment; sampling goes on. Where only sums are left of the moment, the graph
   * covers the nearest time that there is: {@link Snapshot.Covered#graph}.
   */
  @Override
  public void show(Moment moment) {
    worker.enqueue(
        () -> {
          boolean frozen = shown.moment().frozen();
          shown.show(moment, intake.now());
          if (moment.frozen() && !frozen) {
            panels.freeze(shown.graph().shown().shape);
          } else if (!moment.frozen()) {
            panels.thaw();
          }
        });
  }

  /**
   * Shows all since a time, and forgets what was before and the numbers of all nodes: for a reader
   * of one interval after the other. What is kept then depends on what the tasks do now, and not on
   * how long sampling goes on.
   */
  public void beginAt(long time) {
    worker.enqueue(
        () -> {
          shown.beginAt(time, intake.now());
          shown.sweep(sweep, panels.heldTasks());
        });
  }

  @Override
  public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
    if (!worker.offer(
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
  public void ended(@Nullable Throwable cause) {
    worker.enqueue(
        () -> {
          ended = true;
          intake.end();
          shown.follow();
          if (cause != null) {
            intake.tell("sampling ended: " + said(cause));
          }
        });
  }

  private static String said(Throwable by) {
    return by.getMessage() == null ? by.toString() : by.getMessage();
  }

  /** The defect, or lack of memory, that ended the profile; empty while the profile goes on. */
  public Optional<Throwable> failure() {
    return worker.failure();
  }

  /** Ends the thread once all earlier requests are done. */
  @Override
  public void close() {
    worker.close();
  }

  private void read(ByteBuffer batch) {
    if (damaged || worker.isOver()) {
      return;
    }
    try {
      intake.quality().streamed(batch.remaining());
      reader.read(batch, intake);
    } catch (DamagedStreamException e) {
      damaged = true;
      intake.tell(said(e));
    }
    shown.follow();
    if (sweep.due()) {
      shown.sweep(sweep, panels.heldTasks());
    }
    shown.forgetUnasked();
    heap.tend();
  }

  private void slice() {
    if (shown.slice()) {
      shown.sweep(sweep, panels.heldTasks());
    }
  }

  /** The noise at the present rates of samples. */
  private Noise noise(double scale) {
    return source == null
        ? Noise.of(host.passHz(), host.cpuHz(), scale)
        : new Noise(source.row(false).stackWeight(), scale);
  }

  private Snapshot picture(GraphQuery query) {
    GraphPicture picture = shown.picture(query);
    Shape shape = shown.graph().shown().shape;
    Snapshot.Host state = panels.host(shape);
    return new Snapshot(
        picture.slice(),
        picture.total(),
        picture.selection(),
        picture.search(),
        shape.reversed(),
        shown.graph().isRefolding(),
        new Snapshot.Live(
            measure(),
            covered(state.time()),
            state,
            panels.losses(),
            host.cost(),
            events.report(source == null ? TIME : source.number, Math.max(0, intake.now())),
            ended),
        intake.notices());
  }

  private Snapshot.Covered covered(long present) {
    boolean begun = intake.now() != Long.MIN_VALUE;
    ChangeLog of = shown.store.log;
    Moment moment = shown.moment();
    return new Snapshot.Covered(
        shown.covers(),
        moment.range().isPresent(),
        moment.frozen(),
        moment.frozen() && begun ? intake.now() - shown.store.held() : 0,
        shown.comparedWith(),
        begun ? Math.max(0, present - of.startTime()) : 0,
        past(of, present));
  }

  private Snapshot.Past past(ChangeLog of, long present) {
    TimeRange graph = shown.covers();
    return new Snapshot.Past(
        age(of, of.compactedTo(), present),
        of.step(graph.from(), graph.to()),
        of.limit(),
        facts.wallNanos() - facts.monotonicNanos());
  }

  /** How long ago a time was; {@link Long#MAX_VALUE} if nothing of the log is older. */
  private static long age(ChangeLog of, long time, long present) {
    return time > of.startTime() ? Math.max(0, present - time) : Long.MAX_VALUE;
  }
}
