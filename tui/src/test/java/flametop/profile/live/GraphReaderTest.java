package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.ProcessRow;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.Source;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.CallTree;
import flametop.profile.tree.Functions;
import flametop.sampler.Call;
import flametop.sampler.IdSpace;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GraphReaderTest {
  private static final StateSet SLEEP = StateSet.of(State.SLEEP);

  private World world = new World();
  private int tasks;

  @AfterEach
  void sumsAreRight() {
    world.check();
  }

  private GraphSlice slice(int columns, int levels) {
    return slice(world.reader(), new GraphQuery(SLEEP, 0, 0, columns, levels, null));
  }

  private static GraphSlice slice(GraphReader reader, GraphQuery query) {
    return reader.tree().slice(query, 0, 0, 0);
  }

  /** Three processes, of which the first slept for 100 ms in a stack. */
  private void asleep(int stack) {
    processes();
    sleep(0, 1, stack);
    later();
  }

  /** So many tasks sleep in a stack for 100 ms. */
  private void sleep(int process, int count, int stack) {
    world.begin(1000, true);
    for (int i = 0; i < count; i++) {
      world.task(tasks, process, 100 + tasks, 0, false, "t");
      world.changed(1000, tasks++, stack, 5, 1, 7, State.SLEEP);
    }
    world.end();
  }

  @Test
  void slice_byState_isTheStateOfMostTime() {
    asleep(world.named("main", "wait"));
    GraphQuery query = new GraphQuery(StateSet.ALL, 0, 0, 100, 10, null, true, null, false);
    GraphSlice slice = slice(world.reader(), query);
    assertEquals(slice.size(), slice.state().length);
    for (byte state : slice.state()) {
      assertEquals(State.SLEEP.ordinal(), state);
    }
    assertNull(slice(100, 10).state());
  }

  private void later() {
    world.batch(1100, true, () -> {});
  }

  private void processes() {
    world.begin(1000, false);
    world.process(0, 10, "zeta");
    world.process(1, 20, "alpha");
    world.process(2, 21, "alpha");
    world.end();
  }

  private String bySize() {
    GraphQuery query = new GraphQuery(SLEEP, 0, 0, 100, 10, null, false, null, true);
    return String.join(";", slice(world.reader(), query).name());
  }

  @Test
  void slice_bySize_theLargestIsFirstAndSmallChangesMoveNothing() {
    processes();
    int a = world.named("main", "a");
    int b = world.named("main", "b");
    sleep(0, 1, a);
    sleep(0, 2, b);
    sleep(1, 1, a);
    later();
    assertEquals("all;zeta;main;b;a;alpha;main;a", bySize());
    assertEquals("all;alpha;main;a;zeta;main;a;b", String.join(";", slice(100, 10).name()));
    sleep(1, 1, a);
    world.batch(1200, true, () -> {});
    // The last 100 ms are on five tasks: 3 of 5, 2 of 5.
    assertEquals("all;zeta;main;b;a;alpha;main;a", bySize());
    sleep(1, 5, a);
    world.batch(1300, true, () -> {});
    world.batch(1400, true, () -> {});
    assertEquals("all;alpha;main;a;zeta;main;b;a", bySize());
  }

  @Test
  void slice_siblings_areOrderedByNameAndProcessesOfOneCommStandTogether() {
    processes();
    sleep(0, 1, world.named("main", "b"));
    sleep(0, 1, world.named("main", "a"));
    sleep(1, 1, world.named("main", "a"));
    sleep(2, 2, world.named("main", "a"));
    later();
    GraphSlice slice = slice(100, 10);
    assertEquals("all;alpha;main;a;zeta;main;a;b", String.join(";", slice.name()));
    assertArrayEquals(new int[] {-1, 0, 1, 2, 0, 4, 5, 5}, slice.parent());
    assertEquals(500 * World.MS, slice.weight()[0]);
    assertEquals(300 * World.MS, slice.weight()[1]);
    Selection selection = world.reader().selection((int) slice.node()[1], SLEEP, Long.MAX_VALUE);
    assertEquals(2, selection.processes());
    assertEquals(0, selection.pid());
    assertEquals(300 * World.MS, selection.weightByState()[State.SLEEP.ordinal()]);
    List<ProcessRow> comms = world.reader().processes(SLEEP, world.tasks(), true);
    assertEquals("alpha", comms.get(0).comm());
    assertEquals(2, comms.get(0).processes());
    assertEquals(300 * World.MS, comms.get(0).weight());
    assertEquals(500 * World.MS, comms.get(0).total());
    assertEquals(3, comms.get(0).tasksByState()[State.SLEEP.ordinal()]);
    assertEquals(3, world.reader().processes(SLEEP, world.tasks(), false).size());
  }

  @Test
  void cgroups_aboveOthers_haveTheirTimeUnlessAllIsInOne() {
    cgroups("/sys.slice/web.slice/a.service", "/sys.slice/web.slice/b.service", "/");
    List<String> rows = new ArrayList<>();
    for (ProcessRow row : world.reader().cgroups(SLEEP, world.tasks())) {
      rows.add(row.comm() + " " + row.processes() + " " + row.weight() / World.MS);
    }
    assertEquals(
        List.of(
            "/ 1 300",
            "/sys.slice/web.slice 2 300",
            "/sys.slice/web.slice/b.service 1 200",
            "/sys.slice/web.slice/a.service 1 100"),
        rows);
  }

  /** Three processes in these groups: one, two and three tasks of them slept for 100 ms. */
  private void cgroups(String... paths) {
    processes();
    for (int process = 0; process < paths.length; process++) {
      world.intake.cgroup(process, paths[process]);
      sleep(process, process + 1, world.named("main"));
    }
    later();
  }

  @Test
  void selection_ofVeryManyJustSelected_isToldWhoseItIsWhenItStays() {
    processes();
    for (int stack = 0; world.fold().trie.size() <= GraphReader.FEW; stack++) {
      String[] functions = new String[100];
      for (int i = 0; i < functions.length; i++) {
        functions[i] = i == 0 ? "main" : "f" + stack % 2 + i + "_" + stack / 2;
      }
      sleep(stack % 3, 1, world.named(functions));
    }
    later();
    int node = (int) slice(100, 10).node()[1];
    Selection passed = world.reader().selection(node, SLEEP, 0);
    assertEquals(Selection.UNKNOWN, passed.processes());
    Selection stays = world.reader().selection(node, SLEEP, 1);
    assertEquals(passed.weight(), stays.weight());
    assertEquals(2, stays.processes());
    assertEquals(2, world.reader().selection(node, SLEEP, 0).processes());
  }

  @Test
  void slice_narrowChildren_areSummedUp() {
    processes();
    sleep(0, 97, world.named("main", "wide"));
    for (int i = 0; i < 3; i++) {
      sleep(0, 1, world.named("main", "narrow" + i));
    }
    later();
    GraphSlice slice = slice(10, 10);
    assertEquals("all;zeta;main;wide", String.join(";", slice.name()));
    assertEquals(3, slice.hiddenCount()[2]);
    assertEquals(300 * World.MS, slice.hiddenWeight()[2]);
    assertEquals(7, slice(100, 10).size());
  }

  @Test
  void slice_levelsEnd_leavesOutWhatIsBelow() {
    asleep(world.named("main", "a", "b"));
    assertEquals("all;zeta;main", String.join(";", slice(100, 2).name()));
  }

  @Test
  void slice_rootFrames_areHiddenButExported() {
    asleep(world.named("[process start]", "main"));
    assertEquals("all;zeta;main", String.join(";", slice(100, 10).name()));
    assertEquals(Map.of("zeta;[process start];main", 100L), world.folded(SLEEP));
  }

  @Test
  void slice_shortStack_hasItsReasonOutside() {
    int stack = world.stack(WalkEnd.JIT, "leaf", "read_k");
    world.nameAll();
    asleep(stack);
    GraphSlice slice = slice(100, 10);
    assertEquals(
        "all;zeta;[jit without frame pointers];leaf;read_k", String.join(";", slice.name()));
    assertArrayEquals(
        new NodeKind[] {
          NodeKind.ROOT, NodeKind.PROCESS, NodeKind.REASON, NodeKind.USER, NodeKind.KERNEL
        },
        slice.kind());
  }

  @Test
  void selection_guessedFrame_isMarked() {
    asleep(world.named("main", "guessed_leaf"));
    Selection selection =
        world.reader().selection((int) slice(100, 10).node()[3], SLEEP, Long.MAX_VALUE);
    assertTrue(selection.guessed());
    assertEquals("app", selection.module());
    assertEquals(10, selection.pid());
    assertEquals("/bin/zeta --work", selection.commandLine());
  }

  @Test
  void rootPath_anyOrder_standsBeforeTheFrames() {
    for (RootOrder order : RootOrder.values()) {
      world = new World(Shape.of(new Shape.Group(order)), 1 << 20);
      tasks = 0;
      asleep(world.named("main"));
      String expected =
          switch (order) {
            case NONE -> "main";
            case SERVICE, COMM -> "zeta;main";
            case PROCESS -> "zeta-10;main";
            case THREAD -> "zeta-10;t-100;main";
            case CPU -> "[no cpu];main";
            case CGROUP -> "[no cgroup];zeta;main";
            case ANCESTOR -> "zeta-10;zeta;main";
          };
      assertEquals(Map.of(expected, 100L), world.folded(SLEEP));
    }
  }

  @Test
  void folded_byCgroup_aNodeForEachNameAndTheFiltersOfThem() {
    cgroups("/sys.slice/a.service", "/sys.slice", "/");
    String a = "sys.slice;a.service;zeta;main";
    String b = "sys.slice;alpha;main";
    String root = "/;alpha;main";
    assertEquals(Set.of(a, b, root), byCgroup());
    assertEquals(Set.of(a, b), byCgroup(new Shape.Cgroups(Set.of("/sys.slice"), false)));
    assertEquals(Set.of(root), byCgroup(new Shape.Cgroups(Set.of("/sys.slice"), true)));
    assertEquals(Set.of(a, b), byCgroup(new Shape.Cgroups(Set.of("/"), true)));
    assertEquals(Set.of(), byCgroup(new Shape.Cgroups(Set.of("/sys.slice/a", "/sys"), false)));
    world.intake.cgroup(1, "");
    assertEquals(Set.of(a, b, root), byCgroup(), "what was logged keeps its group");
  }

  private Set<String> byCgroup(Shape.Step... filters) {
    Shape shape = Shape.of(filters).plus(new Shape.Group(RootOrder.CGROUP));
    LogFold fold = world.caughtUp(shape);
    Set<String> paths = world.folded(fold, Long.MAX_VALUE, SLEEP, false).keySet();
    GraphSlice slice =
        slice(world.reader(fold, Long.MAX_VALUE), new GraphQuery(SLEEP, 0, 0, 1000, 10, null));
    Set<String> all = Set.of("/", "/sys.slice", "/sys.slice/a.service");
    for (int i = 1; i < slice.size(); i++) {
      if (slice.kind()[i] == NodeKind.CGROUP) {
        Shape.Filter filter = fold.trie.filter((int) slice.node()[i]);
        String path = ((Shape.Cgroups) filter).paths().iterator().next();
        assertTrue(all.contains(path) && path.endsWith(slice.name()[i]), path);
      }
    }
    return paths;
  }

  @Test
  void slice_statesWithQueueing_tellTheQueuedPartOfEachNodeApart() {
    World random = new World(Shape.PLAIN, 1 << 20);
    Simulation simulation = new Simulation(random, 7);
    long queued = 0;
    for (int step = 0; step < 60; step++) {
      simulation.step();
      GraphReader reader = random.reader(random.fold(), 400 * World.MS);
      GraphQuery busy = new GraphQuery(StateSet.BUSY, 0, 0, 200, 20, null);
      GraphSlice slice = slice(reader, busy);
      StateSet only = StateSet.of(State.QUEUED);
      for (int i = 0; i < slice.size(); i++) {
        if (slice.bundled()[i] == 0) {
          assertEquals(reader.tree().weight((int) slice.node()[i], only.bits()), slice.queued()[i]);
        }
        assertTrue(slice.queuedShare(i) >= 0 && slice.queuedShare(i) <= 1);
      }
      queued += slice.queued()[0];
      for (StateSet alone : new StateSet[] {only, StateSet.ON_CPU}) {
        GraphQuery query = new GraphQuery(alone, 0, 0, 200, 20, null);
        assertNull(slice(reader, query).queued());
      }
    }
    assertTrue(queued > 0);
  }

  @Test
  void slice_anyTree_childrenAreNeverMoreThanTheirParent() {
    World random = new World(Shape.PLAIN, 1 << 20);
    Simulation simulation = new Simulation(random, 5);
    Random dice = new Random(5);
    for (int step = 0; step < 150; step++) {
      simulation.step();
      long window = dice.nextInt(500) * World.MS;
      GraphQuery query =
          new GraphQuery(
              StateSet.ALL,
              0,
              0,
              20 + dice.nextInt(100),
              dice.nextInt(9),
              Pattern.compile(step % 50 < 25 ? "f2" : "f[31]"));
      GraphReader reader = random.reader(random.fold(), window);
      GraphSlice slice = slice(reader, query);
      long[] below = slice.hiddenWeight().clone();
      for (int i = 1; i < slice.size(); i++) {
        assertTrue(slice.parent()[i] < i && slice.weight()[i] > 0);
        below[slice.parent()[i]] += slice.weight()[i];
        assertEquals(query.search().matcher(slice.name()[i]).find(), slice.matched()[i]);
      }
      for (int i = 0; i < slice.size(); i++) {
        assertTrue(below[i] <= slice.weight()[i]);
      }
      Snapshot.Search search = random.fold().tree().search(query.search(), StateSet.ALL);
      assertTrue(search.weight() <= reader.tree().total(StateSet.ALL));
      assertEquals(search.count(), search.nodes().length);
      checkSearch(random.fold().trie, random.stacks, search);
      assertEquals(search.count(), Arrays.stream(search.nodes()).distinct().count());
      assertTrue(
          IntStream.range(0, slice.size()).filter(i -> slice.matched()[i]).count()
              <= search.count());
    }
  }

  private static void checkSearch(CallTree tree, Functions functions, Snapshot.Search search) {
    int count = 0;
    long weight = 0;
    int all = StateSet.ALL.bits();
    for (int node = 1; node < tree.nodes(); node++) {
      boolean above = false;
      for (int n = tree.parent(node); n > 0; n = tree.parent(n)) {
        above |= search.pattern().matcher(functions.name(tree.function(n))).find();
      }
      if (tree.weight(node, all) > 0
          && search.pattern().matcher(functions.name(tree.function(node))).find()) {
        count++;
        weight += above ? 0 : tree.weight(node, all);
      }
    }
    assertEquals(count, search.count());
    assertEquals(Math.min(weight, tree.weight(0, all)), search.weight());
  }

  @Test
  void names_samePlaceInANewModule_areNotAskedAgain() {
    processes();
    world.named("main");
    world.batch(1000, false, () -> {});
    int asked = world.asked.size();
    world.intake.moduleSeen(2, ModuleKind.FILE, "/usr/bin/app", "ab");
    world.intake.frameSeen(50, 2, 0x1000 + world.frame("main"), false);
    world.intake.stackSeen(90, WalkEnd.ROOT, 1, new int[] {50});
    world.batch(1000, false, () -> {});
    assertEquals(asked, world.asked.size());
    sleep(0, 1, 90);
    later();
    assertEquals(Set.of("zeta;main"), world.folded(SLEEP).keySet());
  }

  @Test
  void softirq_kernelFrameNamedLater_isKnown() {
    int stack = world.stack(WalkEnd.ROOT, "handle_softirqs_k");
    world.intake.name(world.frame("handle_softirqs_k"), NameSource.SYMBOL, "handle_softirqs");
    assertTrue(world.stacks.softirq(stack));
  }

  @Test
  void names_frameIsAReason_standsForTheEndOfTheStack() {
    int stack = world.stack(WalkEnd.MM_BUSY, "[mm busy: hog 12]", "leaf");
    world.intake.name(world.frame("[mm busy: hog 12]"), NameSource.REASON, "[mm busy: hog 12]");
    world.name("leaf");
    asleep(stack);
    assertEquals(Set.of("zeta;[mm busy: hog 12];leaf"), world.folded(SLEEP).keySet());
  }

  @Test
  void sweep_forgottenWithoutTime_losesItsTexts() {
    processes();
    sleep(0, 1, world.named("main"));
    world.intake.taskSeen(7, 1, 107, 0, false, "t");
    later();
    world.intake.forgotten(IdSpace.TASK, new int[] {7});
    world.intake.forgotten(IdSpace.PROCESS, new int[] {1});
    world.sweep();
    assertEquals("/bin/zeta --work", world.owners.processes().commandLine(0));
    assertEquals("", world.owners.processes().commandLine(1));
    later();
    assertEquals(1, world.folded(SLEEP).size());
  }

  @Test
  void notice_ofAProcess_goesWhenThatIsForgotten() {
    processes();
    world.intake.taskSeen(7, 1, 107, 0, false, "t");
    world.intake.notice(1, 1, "zeta does not answer");
    world.intake.notice(1, -1, "no kernel names");
    assertEquals(List.of("zeta does not answer", "no kernel names"), world.intake.notices());
    world.intake.forgotten(IdSpace.TASK, new int[] {7});
    world.intake.forgotten(IdSpace.PROCESS, new int[] {1});
    assertEquals(List.of("no kernel names"), world.intake.notices());
  }

  private Source source(int node) {
    return world.reader().source(node, node, SLEEP, world.places);
  }

  @Test
  void source_ofANode_askedOnceThenLinesByShare() {
    processes();
    int first = world.named("[thread start]", "main", "work");
    int second = world.stack(WalkEnd.TRUNCATED, "main", "work", "work again");
    world.name("work again");
    sleep(0, 3, first);
    sleep(0, 1, second);
    later();
    GraphSlice slice = slice(100, 10);
    // The short stack, whose outermost frame is a reason, stands before it.
    int work = (int) slice.node()[Arrays.asList(slice.name()).lastIndexOf("work")];
    int frame = world.frame("work");

    Source asked = source(work);
    assertEquals(List.of(frame), world.askedPlaces);
    assertEquals(List.of(new Source.Place(300 * World.MS, List.of(), "")), asked.places());
    source(work);
    assertEquals(List.of(frame), world.askedPlaces, "once");

    List<Call> calls = List.of(new Call("work", "a.c", 7), new Call("inlined", "b.h", 3));
    world.intake.place(frame, calls, "");
    assertEquals(List.of(new Source.Place(300 * World.MS, calls, "")), source(work).places());
    world.intake.frameSeen(frame, 1, 0x9999, false);
    Source after = source(work);
    assertEquals(List.of(frame), world.askedPlaces, "the number is another frame's now");
    assertEquals(List.of(), after.places().get(0).calls());
    assertTrue(after.places().get(0).missing().startsWith("seen too long ago"));
  }

  @Test
  void source_severalPlacesOfOneLine_areOne() {
    processes();
    int first = world.named("main", "a");
    int second = world.named("main", "b");
    // Two places in one function.
    world.intake.name(world.frame("b"), NameSource.SYMBOL, "a");
    sleep(0, 3, first);
    sleep(0, 1, second);
    later();
    GraphSlice slice = slice(100, 10);
    int node = (int) slice.node()[Arrays.asList(slice.name()).indexOf("a")];
    List<Call> calls = List.of(new Call("a", "a.c", 7));
    source(node);
    world.intake.place(world.frame("a"), calls, "");
    world.intake.place(world.frame("b"), calls, "");
    assertEquals(1, source(node).places().size());
    world.intake.place(world.frame("b"), List.of(), "no debug information");
    assertEquals("no debug information", source(node).places().get(1).missing());
    // The root and processes are in no file.
    assertEquals(List.of(), source(0).places());
    assertEquals(List.of(), source((int) slice.node()[1]).places());
  }
}
