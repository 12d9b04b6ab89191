package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
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
import flametop.profile.answer.SandwichQuery;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
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
    Snapshot after =
        get(profile.snapshot(all(new GraphQuery(StateSet.ALL, 0, main, 200, 60, null))));
    assertArrayEquals(new String[] {"all", "sleepy", "main", "poll"}, after.graph().name());
    assertArrayEquals(new String[] {"all", "sleepy", "main"}, after.selection().path());
    assertFalse(after.refolding());
    List<ProcessRow> rows = get(profile.rows(ProcessRow.By.PROCESS, all(StateSet.of(State.RUN))));
    assertEquals(List.of("busy", "sleepy"), rows.stream().map(ProcessRow::comm).toList());
    assertEquals(500 * MS, rows.get(0).weight());
    profile.shape(Shape.PLAIN);
    assertEquals(500L, folded(StateSet.ALL).get("busy;main;work"));
  }

  @Test
  void shape_anotherOne_keepsTheSelectionByItsPath() throws Exception {
    begin(21);
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
    begin(21);
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
    begin(21);
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
  void shape_ofCallersAndBack_knowsTheNodesOfTheGraphBefore() throws Exception {
    begin(41);
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
    begin(41);
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
  void snapshot_search_countsTopmostMatchesOnce() throws Exception {
    begin(21);
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
    begin(6);
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
