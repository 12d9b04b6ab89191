package flametop.profile.live;

import flametop.export.Provenance;
import flametop.export.StackExport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Moment;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import flametop.sampler.StreamFacts;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;

/** A profile that is sent batches of the stream, and is asked. */
abstract class ProfileFixture {
  static final long MS = World.MS;

  final List<Integer> asked = new CopyOnWriteArrayList<>();
  final List<ByteBuffer> released = new CopyOnWriteArrayList<>();

  /** What was sent, for another profile. */
  final List<ByteBuffer> sent = new ArrayList<>();

  Profile profile;
  Moment moment = Moment.ALL;
  int sequence;

  final StreamFacts facts;

  ProfileFixture() {
    this("0,1", Options.DEFAULT);
  }

  ProfileFixture(String cpus, Options options) {
    facts = StreamFacts.parse("cpus=" + cpus + "\nhz.pass=19\nhz.cpu=99\ntarget=all\n");
    profile = open(options);
  }

  final Profile open(Options options) {
    return new Profile(
        facts, options, (frames, count) -> Arrays.stream(frames, 0, count).forEach(asked::add));
  }

  @AfterEach
  void close() {
    profile.close();
  }

  static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(3, TimeUnit.MINUTES);
  }

  Batch batch(double time, boolean pass) {
    return new Batch(sequence++, time, pass);
  }

  void send(Batch batch) {
    ByteBuffer bytes = batch.bytes();
    sent.add(bytes.duplicate().order(bytes.order()));
    profile.accept(bytes, released::add);
  }

  /** Two processes: one sleeps in main;poll, one runs main;work half of the time. */
  void run(int fromPass, int toPass) {
    for (int pass = fromPass; pass < toPass; pass++) {
      double time = 1000 + 50 * pass;
      Batch batch = batch(time, true);
      if (pass == 0) {
        batch.program(0, 10, "sleepy").program(1, 20, "busy");
        batch
            .module(0, 1, "/bin/app")
            .frame(0, 0)
            .frame(1, 0)
            .frame(2, 0)
            .stack(0, 0, 1)
            .stack(1, 0, 2);
        batch.changed(time, 0, 0, 0, State.SLEEP, 1);
      }
      batch.sample(time, 1, 1, 25 * pass, pass).changed(time, 1, -1, 25 * pass, State.RUN, pass);
      batch.usage(0, 25 * pass, 50 * pass).usage(1, 50 * pass, 50 * pass);
      send(batch);
    }
  }

  /** Passes in which nobody runs. */
  void idle(int fromPass, int toPass) {
    for (int pass = fromPass; pass < toPass; pass++) {
      send(batch(1000 + 50 * pass, true));
    }
  }

  void names() {
    send(batch(1000 + 50 * (sequence - 1), false).name(0, "main").name(1, "poll").name(2, "work"));
  }

  /** The first so many passes, and the names of their functions. */
  void begin(int passes) {
    run(0, passes);
    names();
  }

  /** Has the profile show this. */
  void show(Moment next) {
    moment = next;
    profile.show(moment);
  }

  /** Has the profile show the last so many ns before it is asked something. */
  <Q> Q at(long window, Q question) {
    show(moment.withWindow(window));
    return question;
  }

  /** A picture of all time in these states. */
  Snapshot shown(StateSet states) throws Exception {
    return shown(Long.MAX_VALUE, states);
  }

  Snapshot shown(long window, StateSet states) throws Exception {
    return picture(query(window, states));
  }

  Snapshot picture(GraphQuery query) throws Exception {
    return get(profile.snapshot(query));
  }

  /** A node in full, of all time in these states. */
  Selection selected(StateSet states, long node) throws Exception {
    return picture(query(Long.MAX_VALUE, states).at(GraphQuery.ROOT, node)).selection();
  }

  TopReport top(TopQuery query) throws Exception {
    return (TopReport) get(profile.page(query));
  }

  List<ProcessRow> processes(StateSet states) throws Exception {
    return get(profile.rows(ProcessRow.By.PROCESS, states));
  }

  /** All stacks of the moment that is shown. */
  Extract extract() throws Exception {
    return get(profile.extract(StateSet.ALL, GraphQuery.ROOT, false));
  }

  /** All of an extract, as files get it. */
  final StackExport export(Extract of) {
    return StackExport.of(
        Provenance.of("flametop 0", facts, of.scope(), StateSet.ALL),
        of.measure(),
        of.stacks(),
        of.exactTotal());
  }

  /** The sandwich of a function of the app, once it is folded. */
  Sandwich sandwich(String name, long selected) throws Exception {
    Function function = new Function(NodeKind.USER, "app", name);
    SandwichQuery query =
        new SandwichQuery(StateSet.ALL, function, 0, null, 0, null, selected, 200, 60, null, false);
    Sandwich sandwich;
    do {
      sandwich = (Sandwich) get(profile.page(query));
    } while (sandwich.refolding());
    return sandwich;
  }

  <Q> Q all(Q question) {
    return at(Long.MAX_VALUE, question);
  }

  GraphQuery query(long window, StateSet states) {
    return at(window, graph(states));
  }

  static GraphQuery graph(StateSet states) {
    return new GraphQuery(states, GraphQuery.ROOT, GraphQuery.ROOT, 200, 60, null);
  }

  Map<String, Long> folded(StateSet states) throws Exception {
    return folded(Long.MAX_VALUE, states);
  }

  Map<String, Long> folded(long window, StateSet states) throws Exception {
    return held(at(window, states));
  }

  /** The stacks of the moment that is shown, in ms. */
  Map<String, Long> held(StateSet states) throws Exception {
    Map<String, Long> map = amounts(states);
    map.replaceAll((stack, nanos) -> nanos / MS);
    return map;
  }

  /** The same in parts of the measure. */
  Map<String, Long> amounts(StateSet states) throws Exception {
    Map<String, Long> map = new TreeMap<>();
    for (FoldedStack f : get(profile.extract(states, GraphQuery.ROOT, false)).stacks()) {
      map.put(String.join(";", f.names()), f.value());
    }
    return map;
  }

  static long node(GraphSlice graph, String name) {
    return graph.node()[Arrays.asList(graph.name()).indexOf(name)];
  }

  void run2() {
    for (int pass = 21; pass < 41; pass++) {
      double time = 1000 + 50 * pass;
      send(
          batch(time, true)
              .sample(time, 1, 1, 25 * pass, pass)
              .usage(0, 0, 50 * pass)
              .usage(1, 0, 50 * pass));
    }
  }

  static List<FoldedStack> list(Extract extract) {
    List<FoldedStack> stacks = new ArrayList<>();
    extract.stacks().forEach(stacks::add);
    return stacks;
  }

  TasksReport tasks(long covered) throws Exception {
    return tasks(all(new TasksQuery(false, true, TasksQuery.Order.PID, 9, null)), covered);
  }

  /** The report once it covers so much: what takes long is done bit by bit. */
  TasksReport tasks(TasksQuery query, long covered) throws Exception {
    TasksReport report;
    do {
      report = (TasksReport) get(profile.page(query));
    } while (report.windowNanos() != covered);
    return report;
  }

  /** The picture of all time once all is where it is to be. */
  Snapshot settled(StateSet states) throws Exception {
    return settled(Long.MAX_VALUE, states);
  }

  /** The picture once all is where it is to be. */
  Snapshot settled(long window, StateSet states) throws Exception {
    folded(window, states);
    return shown(window, states);
  }
}
