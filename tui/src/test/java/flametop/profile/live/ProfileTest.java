package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Moment;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TimeRange;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.Options;
import flametop.sampler.IdSpace;
import flametop.sampler.State;
import flametop.sampler.StreamFacts;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ProfileTest {
  private static final long MS = World.MS;

  private final List<Integer> asked = new CopyOnWriteArrayList<>();
  private final List<ByteBuffer> released = new CopyOnWriteArrayList<>();
  private Profile profile = open(Options.DEFAULT);
  private Moment moment = Moment.ALL;
  private int sequence;

  private Profile open(Options options) {
    StreamFacts facts = StreamFacts.parse("cpus=0,1\nhz.pass=19\nhz.cpu=99\ntarget=all\n");
    return new Profile(
        facts, options, (frames, count) -> Arrays.stream(frames, 0, count).forEach(asked::add));
  }

  @AfterEach
  void close() {
    profile.close();
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(3, TimeUnit.MINUTES);
  }

  private Batch batch(double time, boolean pass) {
    return new Batch(sequence++, time, pass);
  }

  private void send(Batch batch) {
    profile.accept(batch.bytes(), released::add);
  }

  /** Two processes: one sleeps in main;poll, one runs main;work half of the time. */
  private void run(int fromPass, int toPass) {
    for (int pass = fromPass; pass < toPass; pass++) {
      double time = 1000 + 50 * pass;
      Batch batch = batch(time, true);
      if (pass == 0) {
        batch
            .process(0, 10, "sleepy")
            .task(0, 0, 10, "sleepy")
            .process(1, 20, "busy")
            .task(1, 1, 20, "busy");
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

  private void names() {
    send(batch(1000 + 50 * (sequence - 1), false).name(0, "main").name(1, "poll").name(2, "work"));
  }

  /** Has the profile show this. */
  private void show(Moment next) {
    moment = next;
    profile.show(moment);
  }

  /** Has the profile show the last so many ns before it is asked something. */
  private <Q> Q at(long window, Q question) {
    show(moment.withWindow(window));
    return question;
  }

  /** A picture of all time in these states. */
  private Snapshot shown(StateSet states) throws Exception {
    return get(profile.snapshot(query(Long.MAX_VALUE, states)));
  }

  private <Q> Q all(Q question) {
    return at(Long.MAX_VALUE, question);
  }

  private GraphQuery query(long window, StateSet states) {
    return at(window, new GraphQuery(states, GraphQuery.ROOT, GraphQuery.ROOT, 200, 60, null));
  }

  private Map<String, Long> folded(StateSet states) throws Exception {
    return folded(Long.MAX_VALUE, states);
  }

  private Map<String, Long> folded(long window, StateSet states) throws Exception {
    return held(at(window, states));
  }

  /** The stacks of the moment that is shown. */
  private Map<String, Long> held(StateSet states) throws Exception {
    Map<String, Long> map = new TreeMap<>();
    for (FoldedStack f : get(profile.extract(states, GraphQuery.ROOT, false)).stacks()) {
      map.put(String.join(";", f.names()), f.value() / MS);
    }
    return map;
  }

  private static long node(GraphSlice graph, String name) {
    return graph.node()[Arrays.asList(graph.name()).indexOf(name)];
  }

  @Test
  void snapshot_beforeAnyBatch_isEmpty() throws Exception {
    Snapshot snapshot = shown(StateSet.ALL);
    assertArrayEquals(new String[] {"all"}, snapshot.graph().name());
    assertEquals(0, snapshot.total());
    assertEquals(2, snapshot.live().host().cpus().size());
  }

  @Test
  void accept_namesNotThere_asksOnceAndShowsNaming() throws Exception {
    run(0, 3);
    assertEquals(List.of(0, 1, 2), asked.isEmpty() ? settle() : asked);
    Snapshot snapshot = shown(StateSet.ALL);
    assertArrayEquals(
        new String[] {"all", "busy", "[naming]", "[not sampled]", "sleepy", "[naming]"},
        snapshot.graph().name());
    names();
    snapshot = shown(StateSet.ALL);
    assertArrayEquals(
        new String[] {"all", "busy", "[not sampled]", "main", "work", "sleepy", "main", "poll"},
        snapshot.graph().name());
    assertEquals(List.of(0, 1, 2), asked);
    assertEquals(4, released.size());
  }

  private List<Integer> settle() throws Exception {
    get(profile.counters());
    return asked;
  }

  @Test
  void snapshot_selectedWhileNaming_followsTheHeaviestStack() throws Exception {
    run(0, 3);
    Snapshot before = shown(StateSet.ALL);
    long naming = before.graph().node()[5];
    names();
    Snapshot after =
        get(profile.snapshot(all(new GraphQuery(StateSet.ALL, naming, naming, 200, 60, null))));
    assertArrayEquals(new String[] {"all", "sleepy", "main"}, after.selection().path());
    assertArrayEquals(new String[] {"all", "sleepy", "main", "poll"}, after.graph().name());
    assertEquals(2, after.graph().zoomIndex());
    assertEquals(10, after.selection().pid());
    assertEquals("/bin/sleepy", after.selection().commandLine());
  }

  @Test
  void snapshot_noNameForASecond_showsModuleAndOffset() throws Exception {
    run(0, 30);
    Snapshot snapshot = shown(StateSet.BUSY);
    assertTrue(
        Arrays.asList(snapshot.graph().name()).contains("app+0x1002"),
        Arrays.toString(snapshot.graph().name()));
    names();
    snapshot = shown(StateSet.BUSY);
    assertTrue(Arrays.asList(snapshot.graph().name()).contains("work"));
    assertFalse(Arrays.asList(snapshot.graph().name()).contains("app+0x1002"));
  }

  @Test
  void name_secondOfAFrame_movesItsPastToo() throws Exception {
    run(0, 30);
    names();
    Map<String, Long> before = folded(StateSet.ALL);
    send(batch(1000 + 50 * (sequence - 1), false).name(2, "better"));
    Map<String, Long> after = folded(StateSet.ALL);
    Map<String, Long> expected = new TreeMap<>();
    before.forEach((path, value) -> expected.put(path.replace("work", "better"), value));
    assertTrue(before.containsKey("busy;main;work"), before.toString());
    assertEquals(expected, after);
  }

  @Test
  void folded_window_isTheLastSeconds() throws Exception {
    run(0, 101);
    names();
    assertEquals(Map.of("busy;main;work", 2500L), folded(StateSet.of(State.RUN)));
    assertEquals(Map.of("busy;main;work", 500L), folded(1000 * MS, StateSet.of(State.RUN)));
    assertEquals(
        Map.of("sleepy;main;poll", 5000L, "busy;[not sampled]", 2500L), folded(StateSet.OFF_CPU));
    assertEquals(
        Map.of("sleepy;main;poll", 2000L, "busy;[not sampled]", 1000L),
        folded(2000 * MS, StateSet.OFF_CPU));
    Snapshot snapshot = get(profile.snapshot(query(2000 * MS, StateSet.ALL)));
    assertEquals((double) (4000 * MS), (double) snapshot.total(), (double) MS);
    assertEquals(2000 * MS, snapshot.live().time().nanos());
    assertEquals(5000 * MS, snapshot.live().time().runNanos());
  }

  @Test
  void freeze_thenThaw_holdsEveryPanelAndCatchesUp() throws Exception {
    run(0, 21);
    names();
    show(moment.withFrozen(true));
    Snapshot before = shown(StateSet.ALL);
    run2();
    Snapshot held = shown(StateSet.ALL);
    assertTrue(held.live().time().frozen());
    assertEquals(before.total(), held.total());
    assertEquals(before.live().host().cpus(), held.live().host().cpus());
    assertEquals(1000 * MS, held.live().time().waitingNanos());
    show(moment.withFrozen(false));
    assertEquals(Map.of("busy;main;work", 1000L), folded(StateSet.of(State.RUN)));
    assertFalse(shown(StateSet.ALL).live().time().frozen());
  }

  private void run2() {
    for (int pass = 21; pass < 41; pass++) {
      double time = 1000 + 50 * pass;
      send(
          batch(time, true)
              .sample(time, 1, 1, 25 * pass, pass)
              .usage(0, 0, 50 * pass)
              .usage(1, 0, 50 * pass));
    }
  }

  @Test
  void freeze_cpusAndStrip_holdStillWhileLossesGoOn() throws Exception {
    run(0, 21);
    show(moment.withFrozen(true));
    Snapshot before = shown(StateSet.ALL);
    run2();
    send(batch(3060, true).counters(40, 3, 7));
    Snapshot held = shown(StateSet.ALL);
    assertEquals(before.live().host().cpus(), held.live().host().cpus());
    assertEquals(
        held.live().host().cpus(), ((CpuReport) get(profile.page(new CpuReport.Query()))).cpus());
    assertArrayEquals(before.live().host().busyCpus(), held.live().host().busyCpus());
    assertArrayEquals(before.live().host().waitingTasks(), held.live().host().waitingTasks());
    assertEquals(3, held.live().losses().latePasses());
    assertEquals(7, held.live().losses().lostSamples());
    show(moment.withFrozen(false));
    assertEquals(1, shown(StateSet.ALL).live().host().cpus().get(0).busy());
  }

  private static List<FoldedStack> list(Extract extract) {
    List<FoldedStack> stacks = new ArrayList<>();
    extract.stacks().forEach(stacks::add);
    return stacks;
  }

  @Test
  void extract_samplesBeforeTheFirstPass_areInItsWindow() throws Exception {
    Batch first = batch(1000, true).process(0, 10, "busy").task(0, 0, 10, "busy");
    first.module(0, 1, "/bin/app").frame(0, 0).stack(0, 0).name(0, "main");
    send(first.sample(900, 0, 0, 0, 0).changed(1000, 0, -1, 100, State.RUN, 0));
    send(batch(2000, true).sample(2000, 0, 0, 1100, 0));
    Extract extract = get(profile.extract(all(StateSet.ALL), GraphQuery.ROOT, false));
    assertEquals(1100 * MS, list(extract).stream().mapToLong(FoldedStack::value).sum());
    assertEquals(1100 * MS, extract.scope().time().nanos());
    assertEquals(1100 * MS, shown(StateSet.ALL).live().time().runNanos());
  }

  @Test
  void processes_ofAFrozenMoment_areAsTheyWereThen() throws Exception {
    run(0, 21);
    show(moment.withFrozen(true));
    List<ProcessRow> before = get(profile.processes(all(StateSet.ALL)));
    double time = 2050;
    send(
        batch(time, true)
            .changed(time, 0, 0, 0, State.QUEUED, 2)
            .process(2, 30, "late")
            .task(2, 2, 30, "late")
            .changed(time, 2, 0, 0, State.SLEEP, 1));
    List<ProcessRow> held = get(profile.processes(all(StateSet.ALL)));
    assertEquals(List.of("busy", "sleepy"), held.stream().map(ProcessRow::comm).toList());
    for (int i = 0; i < 2; i++) {
      assertArrayEquals(before.get(i).tasksByState(), held.get(i).tasksByState());
    }
    show(moment.withFrozen(false));
    List<ProcessRow> now = get(profile.processes(all(StateSet.ALL)));
    assertEquals(List.of("sleepy", "busy", "late"), now.stream().map(ProcessRow::comm).toList());
    assertEquals(1, now.get(0).tasksByState()[State.QUEUED.ordinal()]);
  }

  @Test
  void filter_setLater_showsThePast() throws Exception {
    run(0, 21);
    names();
    Snapshot before = shown(StateSet.ALL);
    long main = before.graph().node()[Arrays.asList(before.graph().name()).lastIndexOf("main")];
    profile.shape(Shape.of(new Shape.Processes(Set.of(10), false)));
    assertEquals(Map.of("sleepy;main;poll", 1000L), folded(StateSet.ALL));
    Snapshot after =
        get(profile.snapshot(all(new GraphQuery(StateSet.ALL, 0, main, 200, 60, null))));
    assertArrayEquals(new String[] {"all", "sleepy", "main", "poll"}, after.graph().name());
    assertArrayEquals(new String[] {"all", "sleepy", "main"}, after.selection().path());
    assertFalse(after.refolding());
    List<ProcessRow> rows = get(profile.processes(all(StateSet.of(State.RUN))));
    assertEquals(List.of("busy", "sleepy"), rows.stream().map(ProcessRow::comm).toList());
    assertEquals(500 * MS, rows.get(0).weight());
    profile.shape(Shape.PLAIN);
    assertEquals(500L, folded(StateSet.ALL).get("busy;main;work"));
  }

  @Test
  void shape_anotherOne_keepsTheSelectionByItsPath() throws Exception {
    run(0, 21);
    names();
    assertArrayEquals(
        new String[] {"all", "busy-20", "main", "work"},
        selected(Shape.of(new Shape.Group(RootOrder.PROCESS))));
    assertArrayEquals(
        new String[] {"all", "work"},
        selected(
            Shape.of(
                new Shape.Group(RootOrder.NONE),
                new Shape.Callees(new Function(NodeKind.USER, "app", "work")))));
    assertArrayEquals(
        new String[] {"all", "busy", "[app]"}, selected(Shape.of(new Shape.Collapse("app"))));
    assertArrayEquals(
        new String[] {"all", "busy", "work"}, selected(Shape.of(new Shape.Reverse())));
    assertEquals(500L, folded(StateSet.of(State.RUN)).get("busy;work;main"), "innermost first");
  }

  /** Path of the selected node, which was busy;main;work, once there is this shape. */
  private String[] selected(Shape shape) throws Exception {
    profile.shape(Shape.PLAIN);
    folded(StateSet.ALL);
    Snapshot plain = shown(StateSet.ALL);
    long work = node(plain.graph(), "work");
    profile.shape(shape);
    folded(StateSet.ALL);
    GraphQuery query = all(new GraphQuery(StateSet.ALL, 0, work, 200, 60, null));
    return get(profile.snapshot(query)).selection().path();
  }

  @Test
  void top_functions_bySelfAndTotal() throws Exception {
    run(0, 21);
    names();
    TopReport top =
        (TopReport)
            get(profile.page(all(new TopQuery(StateSet.ALL, TopQuery.Order.TOTAL, 2, null, null))));
    assertEquals(
        List.of("main", "poll"), top.rows().stream().map(r -> r.function().name()).toList());
    assertEquals(4, top.functions());
    assertEquals(1500 * MS, top.rows().get(0).total());
    assertEquals(0, top.rows().get(0).self());
    assertEquals(500 * MS, top.rows().get(0).totalByState()[State.RUN.ordinal()]);
    top =
        (TopReport)
            get(
                profile.page(
                    all(
                        new TopQuery(
                            StateSet.of(State.RUN),
                            TopQuery.Order.SELF,
                            9,
                            null,
                            Pattern.compile("w.rk")))));
    assertEquals(List.of("work"), top.rows().stream().map(r -> r.function().name()).toList());
    assertEquals(500 * MS, top.rows().get(0).self());
    assertEquals(500 * MS, top.total());
  }

  @Test
  void tasks_runningAsleepAndExited_haveExactTimes() throws Exception {
    run(0, 21);
    names();
    TasksQuery query = all(new TasksQuery(false, true, TasksQuery.Order.CPU, 10, null));
    TasksReport report = tasks(query, 1000 * MS);
    assertEquals(2, report.tasks());
    TasksReport.Row busy = report.rows().get(0);
    assertEquals(
        "busy 20 0 1", busy.comm() + " " + busy.pid() + " " + busy.tid() + " " + busy.threads());
    assertEquals(500 * MS, busy.run());
    assertEquals(State.RUN, busy.state());
    assertEquals("work", busy.leaf().name());
    TasksReport.Row sleepy = report.rows().get(1);
    assertEquals(State.SLEEP, sleepy.state());
    assertEquals(1000 * MS, sleepy.ageNanos());
    assertEquals(1000 * MS, sleepy.off());
    assertEquals("poll", sleepy.own().name());
    send(batch(2000, false).gone(1, 2000, 510));
    report =
        tasks(
            at(
                500 * MS,
                new TasksQuery(
                    true, true, TasksQuery.Order.AGE, 10, Pattern.compile("busy|sleepy"))),
            500 * MS);
    assertEquals(
        List.of("sleepy", "busy"), report.rows().stream().map(TasksReport.Row::comm).toList());
    assertEquals(null, report.rows().get(1).state());
    assertEquals(260 * MS, report.rows().get(1).run());
    TasksQuery living = new TasksQuery(true, false, TasksQuery.Order.AGE, 10, null);
    report = tasks(at(500 * MS, living), 500 * MS);
    assertEquals(List.of("sleepy"), report.rows().stream().map(TasksReport.Row::comm).toList());
    assertEquals(1, report.ended());
    // Where none lives, those that ended are shown.
    profile.shape(Shape.of(new Shape.Processes(Set.of(20), false)));
    report = tasks(at(500 * MS, living), 500 * MS);
    assertEquals(List.of("busy"), report.rows().stream().map(TasksReport.Row::comm).toList());
    assertEquals(0, report.ended());
    profile.shape(Shape.of(new Shape.Processes(Set.of(10), false)));
    folded(StateSet.ALL);
    assertEquals(1, tasks(query, 1000 * MS).tasks());
  }

  @Test
  void sandwich_ofAFunction_showsCallersAndCallees() throws Exception {
    run(0, 21);
    names();
    Sandwich main = sandwich("main", 0);
    assertEquals(1500 * MS, main.total());
    assertEquals(0, main.self());
    assertEquals(500 * MS, main.totalByState()[State.RUN.ordinal()]);
    // Whatever the graph is grouped by: one function is in the middle.
    assertArrayEquals(new String[] {"all", "main", "poll", "work"}, main.callees().name());
    assertArrayEquals(new String[] {"all", "main"}, main.callers().name());
    assertArrayEquals(new String[] {"all", "main"}, main.selection().path());
    Sandwich work = sandwich("work", 0);
    assertArrayEquals(new String[] {"all", "work", "main"}, work.callers().name());
    assertArrayEquals(new String[] {"all", "work"}, work.callees().name());
    assertEquals(500 * MS, work.total());
    assertEquals(500 * MS, work.self());
    Sandwich selected = sandwich("work", work.callers().node()[2]);
    assertArrayEquals(new String[] {"all", "work", "main"}, selected.selection().path());
    // It goes on with the present.
    run2();
    assertEquals(1000 * MS, sandwich("work", 0).total());
  }

  private Sandwich sandwich(String function, long selected) throws Exception {
    SandwichQuery query =
        all(
            new SandwichQuery(
                StateSet.ALL,
                new Function(NodeKind.USER, "app", function),
                0,
                null,
                0,
                null,
                selected,
                200,
                60,
                null,
                false));
    Sandwich sandwich = (Sandwich) get(profile.page(query));
    while (sandwich.refolding()) {
      sandwich = (Sandwich) get(profile.page(query));
    }
    return sandwich;
  }

  @Test
  void filter_whileFrozen_keepsTheMoment() throws Exception {
    run(0, 21);
    names();
    show(moment.withFrozen(true));
    run2();
    profile.shape(Shape.of(new Shape.Comms(Set.of("busy"), false)));
    assertEquals(Map.of("busy;main;work", 500L), folded(StateSet.of(State.RUN)));
    show(moment.withFrozen(false));
    assertEquals(Map.of("busy;main;work", 1000L), folded(StateSet.of(State.RUN)));
  }

  @Test
  void baseline_held_isInLaterSlicesOfAnyShape() throws Exception {
    run(0, 21);
    names();
    assertEquals(null, get(profile.snapshot(query(1000 * MS, StateSet.ALL))).graph().baseline());
    show(moment.compared());
    // From here on nobody runs.
    for (int pass = 21; pass < 41; pass++) {
      send(batch(1000 + 50 * pass, true));
    }
    Snapshot later = get(profile.snapshot(query(500 * MS, StateSet.of(State.RUN))));
    assertEquals(0, later.total());
    // What vanished is listed, scaled to half a second.
    assertArrayEquals(new String[] {"all", "busy", "main", "work"}, later.graph().name());
    assertArrayEquals(new long[] {0, 0, 0, 0}, later.graph().weight());
    assertEquals(250 * MS, later.graph().baseline()[3]);
    profile.shape(Shape.of(new Shape.Reverse()));
    folded(StateSet.ALL);
    later = get(profile.snapshot(query(500 * MS, StateSet.of(State.RUN))));
    assertArrayEquals(new String[] {"all", "busy", "work", "main"}, later.graph().name());
    assertEquals(250 * MS, later.graph().baseline()[2]);
    show(moment.comparedNoMore());
    assertEquals(null, get(profile.snapshot(query(500 * MS, StateSet.ALL))).graph().baseline());
  }

  @Test
  void baseline_held_isBesideEachFunction() throws Exception {
    run(0, 21);
    names();
    TopQuery query =
        at(
            500 * MS,
            new TopQuery(StateSet.of(State.RUN), TopQuery.Order.TOTAL_CHANGE, 9, null, null));
    TopReport alone = (TopReport) get(profile.page(query));
    assertEquals("work", alone.rows().get(0).function().name(), "by self, as nothing is compared");
    assertNull(alone.rows().get(0).before());
    get(profile.snapshot(query(1000 * MS, StateSet.ALL)));
    show(moment.compared());
    // From here on nobody runs.
    for (int pass = 21; pass < 41; pass++) {
      send(batch(1000 + 50 * pass, true));
    }
    TopReport report = (TopReport) get(profile.page(at(500 * MS, query)));
    assertEquals(250 * MS, report.total(), "of the larger of the two");
    assertEquals(2, report.functions());
    for (TopReport.Row row : report.rows()) {
      boolean work = row.function().name().equals("work");
      assertTrue(row.isGone());
      assertEquals(0, row.self());
      assertEquals(
          new TopReport.Before(work ? 250 * MS : 0, 250 * MS, work ? -1 : 0, -1), row.before());
    }
    show(moment.comparedNoMore());
    assertEquals(0, ((TopReport) get(profile.page(query))).functions());
  }

  @Test
  void baseline_held_isBesideEachTask() throws Exception {
    run(0, 21);
    names();
    get(profile.snapshot(query(1000 * MS, StateSet.ALL)));
    show(moment.compared());
    for (int pass = 21; pass < 61; pass++) {
      Batch batch = batch(1000 + 50 * pass, true);
      send(pass == 21 ? batch.gone(1, 1000 + 50 * pass, 500) : batch);
    }
    TasksQuery query = at(500 * MS, new TasksQuery(false, true, TasksQuery.Order.CHANGE, 9, null));
    TasksReport report = tasks(query, 500 * MS);
    while (report.rows().stream().allMatch(row -> row.before() == null)) {
      report = (TasksReport) get(profile.page(query));
    }
    TasksReport.Row gone = report.rows().get(0);
    assertEquals(20, gone.pid());
    assertTrue(gone.isGone());
    assertEquals(new TasksReport.Before(250 * MS, -1), gone.before());
    assertEquals(new TasksReport.Before(0, 0), row(report, 10).before());
    assertFalse(row(report, 10).isGone());
    show(moment.comparedNoMore());
    report = tasks(query, 500 * MS);
    assertEquals(1, report.tasks());
    assertNull(row(report, 10).before());
  }

  @Test
  void selection_window_hasTheOneBefore() throws Exception {
    run(0, 41);
    names();
    Snapshot first = get(profile.snapshot(query(500 * MS, StateSet.of(State.RUN))));
    GraphQuery query =
        at(
            500 * MS,
            new GraphQuery(StateSet.of(State.RUN), 0, node(first.graph(), "work"), 200, 60, null));
    Selection.Before before = get(profile.snapshot(query)).selection().before();
    while (before == null) {
      before = get(profile.snapshot(query)).selection().before();
    }
    assertEquals(new Selection.Before(500 * MS, 250 * MS, 250 * MS), before);
  }

  @Test
  void selection_ofTheRoot_hasNoTrend() throws Exception {
    run(0, 41);
    Snapshot snapshot = get(profile.snapshot(query(500 * MS, StateSet.of(State.RUN))));
    assertEquals(Selection.Before.NONE, snapshot.selection().before());
  }

  @Test
  void range_ofThePast_showsWhatWasThen() throws Exception {
    run(0, 41);
    names();
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    assertEquals(Map.of("busy;main;work", 250L), folded(StateSet.of(State.RUN)));
    Snapshot snapshot = shown(StateSet.ALL);
    assertEquals(2000 * MS, snapshot.live().time().graph().to());
    assertEquals(500 * MS, snapshot.live().time().nanos());
    assertEquals(1000 * MS, snapshot.total());
    assertEquals(
        250 * MS,
        ((TasksReport)
                get(
                    profile.page(
                        at(0, new TasksQuery(false, true, TasksQuery.Order.CPU, 1, null)))))
            .rows()
            .get(0)
            .run());
    // Another shape, then another range; it stays while time goes on.
    profile.shape(Shape.of(new Shape.Comms(Set.of("sleepy"), true)));
    assertEquals(Map.of("busy;main;work", 250L), folded(StateSet.of(State.RUN)));
    show(moment.withRange(new TimeRange(1000 * MS, 1100 * MS)));
    run(41, 61);
    assertEquals(Map.of("busy;main;work", 50L), folded(StateSet.of(State.RUN)));
    show(moment.withoutRange());
    assertEquals(Map.of("busy;main;work", 1500L), folded(StateSet.of(State.RUN)));
  }

  @Test
  void range_whileFrozen_goesBackToTheHeldMoment() throws Exception {
    run(0, 41);
    names();
    show(moment.withFrozen(true));
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    run(41, 61);
    Snapshot ranged = settled(StateSet.ALL);
    assertTrue(ranged.live().time().ranged());
    assertTrue(ranged.live().time().frozen());
    assertEquals(2000 * MS, ranged.live().time().graph().to());
    assertEquals(3000 * MS, ranged.live().host().time(), "the other panels are of the held moment");
    assertEquals(2000 * MS, ranged.live().time().runNanos());
    assertEquals(1000 * MS, ranged.live().time().waitingNanos());
    show(moment.withoutRange());
    assertEquals(Map.of("busy;main;work", 1000L), folded(StateSet.of(State.RUN)));
    Snapshot held = settled(StateSet.ALL);
    assertFalse(held.live().time().ranged());
    assertEquals(3000 * MS, held.live().time().graph().to());
    show(moment.withFrozen(false));
    assertEquals(Map.of("busy;main;work", 1500L), folded(StateSet.of(State.RUN)));
  }

  @Test
  void freeze_withinARange_holdsThePresent() throws Exception {
    run(0, 41);
    names();
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    show(moment.withFrozen(true));
    run(41, 61);
    assertEquals(2000 * MS, settled(StateSet.ALL).live().time().graph().to());
    show(moment.withFrozen(false));
    Snapshot live = settled(StateSet.ALL);
    assertEquals(2000 * MS, live.live().time().graph().to(), "the range stays");
    assertEquals(4000 * MS, live.live().host().time());
    assertEquals(
        3000 * MS, live.live().time().runNanos(), "the run goes on whatever the graph is of");
  }

  @Test
  void range_ofATimeThatIsStillToCome_growsUntilItIsOver() throws Exception {
    run(0, 21);
    names();
    show(moment.withRange(new TimeRange(1500 * MS, 2500 * MS)));
    assertEquals(500 * MS, settled(StateSet.ALL).live().time().nanos());
    run(21, 61);
    Snapshot over = settled(StateSet.ALL);
    assertEquals(2500 * MS, over.live().time().graph().to());
    assertEquals(1000 * MS, over.live().time().nanos());
  }

  @Test
  void scope_ofARangeThatIsCompared_saysBoth() throws Exception {
    run(0, 41);
    names();
    show(moment.compared());
    run(41, 61);
    Extract.Scope live = get(profile.scope(at(500 * MS, GraphQuery.ROOT)));
    assertEquals(0, live.agoNanos());
    assertEquals(Optional.of(TimeRange.before(3000 * MS, 2000 * MS)), live.baseline());
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    Extract.Scope ranged = get(profile.scope(at(500 * MS, GraphQuery.ROOT)));
    assertEquals(TimeRange.before(2000 * MS, 500 * MS), ranged.time());
    assertEquals(2000 * MS, ranged.agoNanos());
    Extract stacks = get(profile.extract(at(500 * MS, StateSet.ALL), GraphQuery.ROOT, false));
    assertEquals(2000 * MS, stacks.scope().agoNanos());
    assertTrue(stacks.scope().baseline().isEmpty(), "stacks have one number only");
  }

  @Test
  void baseline_ofARange_isWhatTheRangeWas() throws Exception {
    run(0, 41);
    names();
    show(moment.withRange(new TimeRange(1500 * MS, 2000 * MS)));
    show(moment.compared());
    show(moment.withoutRange());
    // From here on nobody runs.
    for (int pass = 41; pass < 61; pass++) {
      send(batch(1000 + 50 * pass, true));
    }
    Snapshot later = settled(500 * MS, StateSet.of(State.RUN));
    assertEquals(
        Optional.of(TimeRange.before(2000 * MS, 500 * MS)), later.live().time().baseline());
    assertEquals(250 * MS, later.graph().baseline()[0]);
    assertEquals(0, later.graph().weight()[0]);
    // It is folded anew for another shape, and goes on while frozen.
    show(moment.withFrozen(true));
    profile.shape(Shape.of(new Shape.Reverse()));
    folded(StateSet.ALL);
    Snapshot reversed = settled(500 * MS, StateSet.of(State.RUN));
    assertEquals(
        Optional.of(TimeRange.before(2000 * MS, 500 * MS)), reversed.live().time().baseline());
    assertArrayEquals(new String[] {"all", "busy", "work", "main"}, reversed.graph().name());
    assertEquals(250 * MS, reversed.graph().baseline()[2]);
    show(moment.withFrozen(false).comparedNoMore());
    assertTrue(settled(500 * MS, StateSet.ALL).live().time().baseline().isEmpty());
  }

  @Test
  void shape_ofCallersAndBack_knowsTheNodesOfTheGraphBefore() throws Exception {
    run(0, 41);
    names();
    StateSet states = StateSet.of(State.RUN);
    GraphSlice graph = settled(states).graph();
    long work = node(graph, "work");
    long main = node(graph, "main");
    profile.shape(Shape.of(new Shape.Reverse()));
    assertTrue(settled(states).reversed());
    GraphQuery ofWork = all(new GraphQuery(states, 0, work, 200, 60, null));
    assertArrayEquals(
        new String[] {"all", "busy", "work"}, get(profile.snapshot(ofWork)).selection().path());
    profile.shape(Shape.PLAIN);
    assertFalse(settled(states).reversed());
    GraphQuery zoomed = all(new GraphQuery(states, main, work, 200, 60, null));
    Snapshot back = get(profile.snapshot(zoomed));
    assertArrayEquals(new String[] {"all", "busy", "main", "work"}, back.selection().path());
    assertEquals("main", back.graph().name()[back.graph().zoomIndex()]);
  }

  @Test
  void selection_ofAFrame_hasWhatIsItsOwn() throws Exception {
    run(0, 41);
    names();
    GraphSlice all = settled(StateSet.of(State.RUN)).graph();
    for (String name : new String[] {"main", "work"}) {
      GraphQuery query =
          all(new GraphQuery(StateSet.of(State.RUN), 0, node(all, name), 200, 60, null));
      Selection selection = get(profile.snapshot(query)).selection();
      assertEquals(1000 * MS, selection.weight());
      assertEquals(name.equals("work") ? 1000 * MS : 0, selection.self());
    }
  }

  @Test
  void tasks_whileFrozen_areInTheStateThatTheyWereIn() throws Exception {
    run(0, 21);
    names();
    TasksReport before = tasks(1000 * MS);
    show(moment.withFrozen(true));
    for (int pass = 21; pass < 41; pass++) {
      double time = 1000 + 50 * pass;
      Batch batch = batch(time, true);
      if (pass == 21) {
        batch.process(2, 30, "late").task(2, 2, 30, "late");
        batch.changed(time, 2, 0, 0, State.SLEEP, 1);
        batch.changed(time, 0, 0, 0, State.DISK, 2);
        batch.gone(1, time, 500);
      }
      send(batch);
    }
    assertEquals(before, tasks(1000 * MS));
    show(moment.withFrozen(false));
    TasksReport after = tasks(2000 * MS);
    assertEquals(3, after.tasks());
    assertNull(row(after, 20).state(), "it is gone");
    assertEquals(State.DISK, row(after, 10).state());
    assertTrue(row(after, 10).ageNanos() > 0);
  }

  private TasksReport tasks(long covered) throws Exception {
    return tasks(all(new TasksQuery(false, true, TasksQuery.Order.PID, 9, null)), covered);
  }

  /** The report once it covers so much: what takes long is done bit by bit. */
  private TasksReport tasks(TasksQuery query, long covered) throws Exception {
    TasksReport report = (TasksReport) get(profile.page(query));
    while (report.windowNanos() != covered) {
      report = (TasksReport) get(profile.page(query));
    }
    return report;
  }

  /** The picture of all time once all is where it is to be. */
  private Snapshot settled(StateSet states) throws Exception {
    return settled(Long.MAX_VALUE, states);
  }

  /** The picture once all is where it is to be. */
  private Snapshot settled(long window, StateSet states) throws Exception {
    folded(window, states);
    return get(profile.snapshot(query(window, states)));
  }

  private static TasksReport.Row row(TasksReport report, int pid) {
    return report.rows().stream().filter(row -> row.pid() == pid).findFirst().orElseThrow();
  }

  @Test
  void beginningAt_afterAWhile_countsFromThereUntilTheWindowIsBack() throws Exception {
    run(0, 21);
    names();
    Map<String, Long> before = folded(StateSet.ALL);
    show(moment.beginningAt(2000 * MS));
    run2();
    Map<String, Long> running = held(StateSet.of(State.RUN));
    assertEquals(Map.of("busy;main;work", 500L), running);
    assertEquals(1000L, held(StateSet.of(State.SLEEP)).get("sleepy;main;poll"));
    Snapshot snapshot =
        get(
            profile.snapshot(
                new GraphQuery(StateSet.ALL, GraphQuery.ROOT, GraphQuery.ROOT, 200, 60, null)));
    assertEquals(new TimeRange(2000 * MS, 3000 * MS), snapshot.live().time().graph());
    assertEquals(
        2, tasks(new TasksQuery(false, true, TasksQuery.Order.PID, 9, null), 1000 * MS).tasks());
    show(moment.withoutSince());
    Map<String, Long> all = held(StateSet.ALL);
    before.forEach((stack, nanos) -> assertTrue(all.get(stack) >= nanos, stack));
  }

  @Test
  void snapshot_search_countsTopmostMatchesOnce() throws Exception {
    run(0, 21);
    names();
    GraphQuery query =
        all(new GraphQuery(StateSet.of(State.RUN), 0, 0, 200, 60, Pattern.compile("main|work")));
    Snapshot snapshot = get(profile.snapshot(query));
    assertEquals(500 * MS, snapshot.search().weight());
    assertEquals(2, snapshot.search().count());
    assertEquals(node(snapshot.graph(), "main"), snapshot.search().nodes()[0]);
    assertEquals(node(snapshot.graph(), "work"), snapshot.search().nodes()[1]);
  }

  @Test
  void snapshot_cpus_twiceInARow_haveRates() throws Exception {
    run(0, 41);
    Snapshot snapshot = shown(StateSet.ALL);
    assertEquals(0.5, snapshot.live().host().cpus().get(0).busy(), 0.01);
    assertEquals(0, snapshot.live().host().cpus().get(1).busy(), 0.01);
    assertTrue(Double.isNaN(snapshot.live().host().cpus().get(1).steal()));
    assertEquals(snapshot.live().host().cpus(), shown(StateSet.ALL).live().host().cpus());
    assertEquals(3, snapshot.live().host().busyCpus().length);
    assertEquals(0.5, snapshot.live().host().busyCpus()[1], 0.03);
  }

  @Test
  void accept_damagedBatch_isTold() throws Exception {
    run(0, 3);
    ByteBuffer bytes = batch(2000, true).bytes();
    bytes.limit(10);
    profile.accept(bytes, released::add);
    Snapshot snapshot = shown(StateSet.ALL);
    assertEquals(1, snapshot.notices().size());
    assertEquals(4, released.size());
    assertTrue(snapshot.total() > 0);
  }

  @Test
  void accept_hostileNames_showAsCleanText() throws Exception {
    Batch batch = batch(1000, true).process(0, 10, "a\n\u001b[2J;b").task(0, 0, 10, "x");
    send(batch.changed(1000, 0, -1, 0, State.SLEEP, 1));
    send(batch(1050, true));
    for (FoldedStack f : get(profile.extract(all(StateSet.ALL), 0, false)).stacks()) {
      for (String name : f.names()) {
        assertTrue(name.chars().noneMatch(Character::isISOControl), name);
      }
    }
  }

  @Test
  void extract_shares_processAndState() throws Exception {
    run(0, 6);
    names();
    Extract extract = get(profile.extract(all(StateSet.ALL), GraphQuery.ROOT, false));
    assertArrayEquals(new String[] {"all"}, extract.scope().zoom());
    assertEquals(Shape.PLAIN, extract.scope().shape());
    FoldedStack busy =
        list(extract).stream()
            .filter(stack -> List.of(stack.names()).equals(List.of("busy", "main", "work")))
            .findFirst()
            .orElseThrow();
    assertArrayEquals(new String[] {"", "app", "app"}, busy.modules());
    assertEquals(
        List.of(new FoldedStack.Share(20, "busy", 0, "", State.RUN, 125 * MS, 6)),
        busy.shares().stream().filter(share -> share.state() == State.RUN).toList());
    FoldedStack sleepy = list(extract).get(list(extract).size() - 1);
    assertEquals(
        List.of(new FoldedStack.Share(10, "sleepy", 0, "", State.SLEEP, sleepy.value(), 6)),
        sleepy.shares());
  }

  @Test
  void close_thenRequests_failWithoutWaiting() throws Exception {
    run(0, 3);
    profile.close();
    CompletableFuture<Snapshot> future = profile.snapshot(query(Long.MAX_VALUE, StateSet.ALL));
    ExecutionException e = assertThrows(ExecutionException.class, () -> get(future));
    assertTrue(e.getCause() instanceof IllegalStateException);
    send(batch(5000, true));
    List<ByteBuffer> all = new ArrayList<>(released);
    assertTrue(all.size() <= 4);
  }

  @Test
  void accept_defectWithin_failsTheRequestsAndSaysWhy() throws Exception {
    profile.close();
    profile =
        new Profile(
            StreamFacts.parse("cpus=0\n"),
            Options.DEFAULT,
            (frames, count) -> {
              throw new IllegalArgumentException("no names");
            });
    sequence = 0;
    run(0, 1);
    ExecutionException e = assertThrows(ExecutionException.class, () -> shown(StateSet.ALL));
    assertTrue(e.getMessage().contains("no names"));
    assertTrue(profile.failure().isPresent());
    assertEquals(1, released.size());
  }

  /**
   * Processes by the hundred thousand that live for one sample, each with a stack of its own: what
   * the native side forgets is given anew, and time is neither lost nor are the tables larger than
   * what is recent.
   */
  @Test
  void accept_manyShortProcesses_keepsTablesAndTotal() throws Exception {
    profile.close();
    profile = open(new Options(Shape.of(new Shape.Group(RootOrder.PROCESS)), 4 << 20, true));
    int each = 500;
    int batches = 300;
    send(batch(1000, true).module(0, 1, "/bin/app"));
    for (int n = 1; n <= batches; n++) {
      double time = 1000 + 50 * n;
      Batch batch = batch(time, true);
      int[] ids = new int[each];
      for (int i = 0; i < each; i++) {
        int id = (n + 1) % 2 * each + i;
        ids[i] = n % 2 * each + i;
        batch
            .process(id, 1000 + (n * each + i) % 30_000, "cc" + i % 50)
            .task(id, id, 1000 + (n * each + i) % 30_000, "cc")
            .frame(id, 0)
            .stack(id, id)
            .name(id, "f" + (n * each + i) % 100_000)
            .sample(time, id, id, 0, 1)
            .gone(id, time + 1, 1);
      }
      if (n > 1) {
        batch
            .forgotten(IdSpace.TASK, ids)
            .forgotten(IdSpace.PROCESS, ids)
            .forgotten(IdSpace.STACK, ids)
            .forgotten(IdSpace.FRAME, ids);
      }
      send(batch);
      if (n % 20 == 0) {
        Profile.Kept kept = get(profile.kept());
        assertTrue(kept.logBytes() < 5 << 20, kept::toString);
        // The log has 150,000 entries at most, and little is kept that is not in it.
        assertTrue(kept.owners() < 500_000, kept::toString);
        assertTrue(kept.stacks() < 700_000, kept::toString);
        assertTrue(kept.trie() < 900_000, kept::toString);
      }
    }
    Snapshot snapshot = shown(StateSet.of(State.RUN));
    assertEquals((long) each * batches * MS, snapshot.total());
    long folded = 0;
    for (long ms : folded(StateSet.of(State.RUN)).values()) {
      folded += ms;
    }
    assertEquals((long) each * batches, folded);
  }
}
