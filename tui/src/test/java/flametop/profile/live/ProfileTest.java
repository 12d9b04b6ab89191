package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Extract;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Sandwich;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.tree.Options;
import flametop.sampler.State;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ProfileTest extends ProfileFixture {
  @Test
  void snapshot_beforeAnyBatch_isEmpty() throws Exception {
    Snapshot snapshot = shown(StateSet.ALL);
    assertEquals("all", String.join(";", snapshot.graph().name()));
    assertEquals(0, snapshot.total());
    assertEquals(2, snapshot.live().host().cpus().size());
  }

  @Test
  void accept_namesNotThere_asksOnceAndShowsNaming() throws Exception {
    run(0, 3);
    get(profile.counters());
    assertEquals(List.of(0, 1, 2), asked);
    Snapshot snapshot = shown(StateSet.ALL);
    assertEquals(
        "all;busy;[naming];[not sampled];sleepy;[naming]",
        String.join(";", snapshot.graph().name()));
    names();
    snapshot = shown(StateSet.ALL);
    assertEquals(
        "all;busy;[not sampled];main;work;sleepy;main;poll",
        String.join(";", snapshot.graph().name()));
    assertEquals(List.of(0, 1, 2), asked);
    assertEquals(4, released.size());
  }

  @Test
  void snapshot_selectedWhileNaming_followsTheHeaviestStack() throws Exception {
    run(0, 3);
    Snapshot before = shown(StateSet.ALL);
    long naming = before.graph().node()[5];
    names();
    Snapshot after = picture(query(Long.MAX_VALUE, StateSet.ALL).at(naming, naming));
    assertEquals("all;sleepy;main", String.join(";", after.selection().path()));
    assertEquals("all;sleepy;main;poll", String.join(";", after.graph().name()));
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
    begin(30);
    Map<String, Long> before = folded(StateSet.ALL);
    send(batch(1000 + 50 * (sequence - 1), false).name(2, "better"));
    Map<String, Long> after = folded(StateSet.ALL);
    Map<String, Long> expected = new TreeMap<>();
    before.forEach((path, value) -> expected.put(path.replace("work", "better"), value));
    assertTrue(before.containsKey("busy;main;work"), before.toString());
    assertEquals(expected, after);
  }

  @Test
  void filter_setLater_showsThePast() throws Exception {
    begin(21);
    Snapshot before = shown(StateSet.ALL);
    long main = before.graph().node()[Arrays.asList(before.graph().name()).lastIndexOf("main")];
    profile.shape(Shape.of(new Shape.Processes(Set.of(10), false)));
    assertEquals(Map.of("sleepy;main;poll", 1000L), folded(StateSet.ALL));
    Snapshot after = picture(query(Long.MAX_VALUE, StateSet.ALL).at(0, main));
    assertEquals("all;sleepy;main;poll", String.join(";", after.graph().name()));
    assertEquals("all;sleepy;main", String.join(";", after.selection().path()));
    assertFalse(after.refolding());
    List<ProcessRow> rows = processes(StateSet.of(State.RUN));
    assertEquals(List.of("busy", "sleepy"), rows.stream().map(ProcessRow::comm).toList());
    assertEquals(500 * MS, rows.get(0).weight());
    profile.shape(Shape.PLAIN);
    assertEquals(500L, folded(StateSet.ALL).get("busy;main;work"));
  }

  @Test
  void shape_anotherOne_keepsTheSelectionByItsPath() throws Exception {
    begin(21);
    assertEquals("all;busy-20;main;work", selected(Shape.of(new Shape.Group(RootOrder.PROCESS))));
    assertEquals(
        "all;work",
        selected(
            Shape.of(
                new Shape.Group(RootOrder.NONE),
                new Shape.Callees(new Function(NodeKind.USER, "app", "work")))));
    assertEquals("all;busy;[app]", selected(Shape.of(new Shape.Collapse("app"))));
    assertEquals("all;busy;work", selected(Shape.of(new Shape.Reverse())));
    assertEquals(500L, folded(StateSet.of(State.RUN)).get("busy;work;main"), "innermost first");
  }

  /** Path of the selected node, which was busy;main;work, once there is this shape. */
  private String selected(Shape shape) throws Exception {
    profile.shape(Shape.PLAIN);
    folded(StateSet.ALL);
    long work = node(shown(StateSet.ALL).graph(), "work");
    profile.shape(shape);
    folded(StateSet.ALL);
    return String.join(";", selected(StateSet.ALL, work).path());
  }

  @Test
  void top_functions_bySelfAndTotal() throws Exception {
    begin(21);
    TopReport top = top(new TopQuery(StateSet.ALL, TopQuery.Order.TOTAL, 2, null, null));
    assertEquals(
        List.of("main", "poll"), top.rows().stream().map(r -> r.function().name()).toList());
    assertEquals(4, top.functions());
    assertEquals(1500 * MS, top.rows().get(0).total());
    assertEquals(0, top.rows().get(0).self());
    assertEquals(500 * MS, top.rows().get(0).totalByState()[State.RUN.ordinal()]);
    Pattern search = Pattern.compile("w.rk");
    top = top(new TopQuery(StateSet.of(State.RUN), TopQuery.Order.SELF, 9, null, search));
    assertEquals(List.of("work"), top.rows().stream().map(r -> r.function().name()).toList());
    assertEquals(500 * MS, top.rows().get(0).self());
    assertEquals(500 * MS, top.total());
  }

  @Test
  void tasks_runningAsleepAndExited_haveExactTimes() throws Exception {
    begin(21);
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
    Pattern both = Pattern.compile("busy|sleepy");
    report =
        tasks(at(500 * MS, new TasksQuery(true, true, TasksQuery.Order.AGE, 10, both)), 500 * MS);
    assertEquals(List.of("sleepy", "busy"), comms(report));
    assertEquals(null, report.rows().get(1).state());
    assertEquals(260 * MS, report.rows().get(1).run());
    TasksQuery living = new TasksQuery(true, false, TasksQuery.Order.AGE, 10, null);
    report = tasks(at(500 * MS, living), 500 * MS);
    assertEquals(List.of("sleepy"), comms(report));
    assertEquals(1, report.ended());
    // Where none lives, those that ended are shown.
    profile.shape(Shape.of(new Shape.Processes(Set.of(20), false)));
    report = tasks(at(500 * MS, living), 500 * MS);
    assertEquals(List.of("busy"), comms(report));
    assertEquals(0, report.ended());
    profile.shape(Shape.of(new Shape.Processes(Set.of(10), false)));
    folded(StateSet.ALL);
    assertEquals(1, tasks(query, 1000 * MS).tasks());
  }

  private static List<String> comms(TasksReport report) {
    return report.rows().stream().map(TasksReport.Row::comm).toList();
  }

  @Test
  void sandwich_ofAFunction_showsCallersAndCallees() throws Exception {
    begin(21);
    Sandwich main = sandwich("main", 0);
    assertEquals(1500 * MS, main.total());
    assertEquals(0, main.self());
    assertEquals(500 * MS, main.totalByState()[State.RUN.ordinal()]);
    // Whatever the graph is grouped by: one function is in the middle.
    assertEquals("all;main;poll;work", String.join(";", main.callees().name()));
    assertEquals("all;main", String.join(";", main.callers().name()));
    assertEquals("all;main", String.join(";", main.selection().path()));
    Sandwich work = sandwich("work", 0);
    assertEquals("all;work;main", String.join(";", work.callers().name()));
    assertEquals("all;work", String.join(";", work.callees().name()));
    assertEquals(500 * MS, work.total());
    assertEquals(500 * MS, work.self());
    Sandwich selected = sandwich("work", work.callers().node()[2]);
    assertEquals("all;work;main", String.join(";", selected.selection().path()));
    // It goes on with the present.
    run2();
    assertEquals(1000 * MS, sandwich("work", 0).total());
  }

  @Test
  void shape_ofCallersAndBack_knowsTheNodesOfTheGraphBefore() throws Exception {
    begin(41);
    StateSet states = StateSet.of(State.RUN);
    GraphSlice graph = settled(states).graph();
    long work = node(graph, "work");
    long main = node(graph, "main");
    profile.shape(Shape.of(new Shape.Reverse()));
    assertTrue(settled(states).reversed());
    assertEquals("all;busy;work", String.join(";", selected(states, work).path()));
    profile.shape(Shape.PLAIN);
    assertFalse(settled(states).reversed());
    Snapshot back = picture(query(Long.MAX_VALUE, states).at(main, work));
    assertEquals("all;busy;main;work", String.join(";", back.selection().path()));
    assertEquals("main", back.graph().name()[back.graph().zoomIndex()]);
  }

  @Test
  void selection_ofAFrame_hasWhatIsItsOwn() throws Exception {
    begin(41);
    GraphSlice all = settled(StateSet.of(State.RUN)).graph();
    for (String name : new String[] {"main", "work"}) {
      Selection selection = selected(StateSet.of(State.RUN), node(all, name));
      assertEquals(1000 * MS, selection.weight());
      assertEquals(name.equals("work") ? 1000 * MS : 0, selection.self());
    }
  }

  @Test
  void snapshot_search_countsTopmostMatchesOnce() throws Exception {
    begin(21);
    Pattern search = Pattern.compile("main|work");
    Snapshot snapshot = picture(new GraphQuery(StateSet.of(State.RUN), 0, 0, 200, 60, search));
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
    Batch batch = batch(1000, true).program(0, 10, "a\n\u001b[2J;b");
    send(batch.changed(1000, 0, -1, 0, State.SLEEP, 1));
    send(batch(1050, true));
    for (FoldedStack f : extract().stacks()) {
      for (String name : f.names()) {
        assertTrue(name.chars().noneMatch(Character::isISOControl), name);
      }
    }
  }

  @Test
  void extract_shares_processAndState() throws Exception {
    begin(6);
    Extract extract = extract();
    assertEquals("all", String.join(";", extract.scope().zoom()));
    assertEquals(Shape.PLAIN, extract.scope().shape());
    FoldedStack busy =
        list(extract).stream()
            .filter(stack -> List.of(stack.names()).equals(List.of("busy", "main", "work")))
            .findFirst()
            .orElseThrow();
    assertEquals(";app;app", String.join(";", busy.modules()));
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
            facts,
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
      send(shortLived(n, each, 0, 50, 100_000));
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
    Map<String, Long> folded = folded(StateSet.of(State.RUN));
    assertEquals((long) each * batches, folded.values().stream().mapToLong(Long::longValue).sum());
  }

  /**
   * A batch of processes that live for one sample, each with a group and a stack of its own; those
   * of the batch before are forgotten.
   *
   * @param first of the ids
   * @param comms how many there are
   * @param functions how many there are
   */
  private Batch shortLived(int n, int each, int first, int comms, int functions) {
    double time = 1000 + 50 * n;
    Batch batch = batch(time, true);
    int[] ids = new int[each];
    for (int i = 0; i < each; i++) {
      int id = first + (n + 1) % 2 * each + i;
      ids[i] = first + n % 2 * each + i;
      int number = n * each + i;
      batch
          .program(id, 1000 + number % 30_000, "c" + number % comms)
          .cgroup(id, "/g" + number)
          .frame(id, 0)
          .stack(id, id)
          .name(id, "f" + number % functions)
          .sample(time, id, id, 0, 1)
          .gone(id, time + 1, 1);
    }
    return n > 1 ? batch.forgotten(ids) : batch;
  }

  /**
   * Intervals one after the other, each with processes, names, groups and stacks that there never
   * were before, 80,000 processes and 80,000 stacks in all: of those that are over little is kept.
   */
  @Test
  void beginAt_intervalsOfWhatIsNew_keepsFewOfThem() throws Exception {
    profile.close();
    Shape shape = Shape.of(new Shape.Group(RootOrder.CGROUP));
    profile = open(new Options(shape, 4 << 20, false));
    int each = 400;
    int asleep = 0;
    send(batch(1000, true).module(0, 1, "/bin/app").frame(asleep, 0).stack(asleep, asleep));
    send(
        batch(1000, true)
            .name(asleep, "waits")
            .program(asleep, 7, "sleeper")
            .cgroup(asleep, "/sleepers")
            .changed(1000, asleep, asleep, 0, State.SLEEP, 1));
    List<Profile.Kept> kept = new ArrayList<>();
    long ran = 0;
    long slept = 0;
    int intervals = 200;
    for (int n = 1; n <= intervals; n++) {
      send(shortLived(n, each, 1, Integer.MAX_VALUE, Integer.MAX_VALUE));
      send(batch(1025 + 50 * n, true));
      Extract extract = extract();
      for (FoldedStack stack : extract.stacks()) {
        String of = String.join(";", stack.names());
        boolean older = !of.endsWith("waits") && !of.matches(".*c" + "(\\d+);f\\1");
        assertFalse(older, () -> "only what is told apart is in an interval: " + of);
        ran += of.endsWith("waits") ? 0 : stack.value();
        slept += of.endsWith("waits") ? stack.value() : 0;
      }
      profile.beginAt(extract.scope().time().to());
      kept.add(get(profile.kept()));
    }
    assertEquals((long) each * intervals * MS, ran);
    assertEquals((50L * intervals + 25) * MS, slept);
    // A second, 20 intervals, is how long a stack may wait for names.
    for (Profile.Kept of : kept) {
      assertTrue(of.owners() < 20 * each, of::toString);
      assertTrue(of.stacks() < 100 * each, of::toString);
      assertTrue(of.trie() < 50 * each, of::toString);
      assertTrue(of.logBytes() < 1 << 20, of::toString);
    }
  }
}
