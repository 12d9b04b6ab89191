package flametop.view.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.Reports;
import flametop.view.screen.ScreenUser;
import flametop.view.screen.ShapePictures;
import flametop.view.screen.Tree;
import flametop.view.screen.Trees;
import flametop.view.state.Effect;
import flametop.view.state.PickList;
import flametop.view.state.PickRow;
import flametop.view.state.Place;
import flametop.view.state.Questions;
import flametop.view.state.Search;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import flametop.view.state.Zoom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ShapeKeysTest extends ScreenUser {
  private final Tree tree = Trees.server();
  private int columns = 120;

  @Override
  protected Scene scene() {
    return scene(Pictures.snapshot(tree, state, columns));
  }

  private Scene scene(Snapshot snapshot) {
    return Scene.of(snapshot, state, columns, 30, Pictures.options());
  }

  private void select(String... path) {
    state = Pictures.selecting(state, tree, path);
  }

  private String steps() {
    return state.shape().toString();
  }

  private static Shape.Through through(String name, boolean out) {
    return new Shape.Through(new Function(NodeKind.USER, "redis-server", name), out);
  }

  @Test
  void keep_aProcess_isOnlyItsComm() {
    select("redis-server");
    type("f");
    assertEquals(Shape.of(new Shape.Comms(Set.of("redis-server"), false)), state.shape());
    assertEquals("only comm redis-server, its past too", state.message());
    type("f");
    assertEquals("this filter is set already; u undoes", state.message());
  }

  @Test
  void showSleepers_pressedTwice_showsAndFoldsIdleThreads() {
    state = state.withStates(StateSet.ALL);
    type("a");
    assertEquals(Shape.of(new Shape.ShowIdle()), state.shape());
    assertEquals("idle threads shown", state.message());
    type("a");
    assertEquals(Shape.PLAIN, state.shape());
    assertEquals("idle threads folded", state.message());
    type("u");
    assertEquals("undone: no longer idle shown", state.message());
    assertTrue(state.shape().showsIdle());
  }

  @Test
  void showSleepers_whileNoSleepIsShown_saysWhichKeyShowsIt() {
    type("a");
    assertEquals("idle threads shown; o shows those that sleep", state.message());
  }

  @Test
  void drop_aFrame_leavesOutWhatPassesThroughIt() {
    select("redis-server", "main");
    type("x");
    assertEquals(Shape.of(through("main", true)), state.shape());
    assertEquals("without main, its past too", state.message());
  }

  @Test
  void keep_zoomedIn_showsAllOfWhatIsKept() {
    select("redis-server", "main");
    press(Key.of(Key.Kind.ENTER));
    type("x");
    assertEquals(1, state.zooms().size(), "what is left out was in the way of what is looked at");
    type("f");
    assertTrue(state.zooms().isEmpty());
  }

  @Test
  void keep_theRoot_saysWhatToDo() {
    type("f");
    assertEquals("the root holds everything; select a process or a frame first", state.message());
    assertEquals(Shape.PLAIN, state.shape());
    type("M");
    assertEquals("only frames have a module; select one first", state.message());
  }

  @Test
  void keep_aRunOfThinFrames_saysSo() {
    press(Key.of(Key.Kind.DOWN));
    press(Key.of(Key.Kind.RIGHT));
    Scene scene = scene();
    assertTrue(scene.geometry.isRun(scene.selectedBox));
    type("x");
    assertEquals("frames too thin to draw have no name; enter opens them", state.message());
  }

  @Test
  void keep_beforeAnythingIsThere_isAnswered() {
    for (char key : new char[] {'f', 'x', 'M'}) {
      state = Keys.press(scene(Snapshot.OPENING), Key.of(key)).state();
      assertEquals("nothing is selected yet", state.message());
    }
  }

  /** What the picture tells of is still the node before. */
  @Test
  void keep_beforeTheSelectedIsKnown_waitsForIt() {
    select("redis-server");
    Snapshot earlier = Pictures.snapshot(tree, state, columns);
    state = Keys.press(scene(earlier), Key.of('j')).state();
    state = Keys.press(scene(earlier), Key.of('f')).state();
    assertEquals(Shape.PLAIN, state.shape());
    state = Keys.arrived(scene(earlier)).state();
    assertEquals(Shape.PLAIN, state.shape());
    state = Keys.arrived(scene()).state();
    assertEquals(Shape.of(through("main", false)), state.shape());
    assertNull(state.awaited());
  }

  @Test
  void keep_thenAnotherKeyBeforeTheSelectedIsKnown_isDropped() {
    select("redis-server");
    Snapshot earlier = Pictures.snapshot(tree, state, columns);
    for (char key : new char[] {'j', 'x', 'k'}) {
      state = Keys.press(scene(earlier), Key.of(key)).state();
    }
    state = Keys.arrived(scene()).state();
    assertEquals(Shape.PLAIN, state.shape());
  }

  @Test
  void keep_aMatchOfTheSearch_keepsAllThatMatches() {
    type("/^tcp_");
    press(Key.of(Key.Kind.ENTER));
    assertNotNull(scene().found());
    type("f");
    assertEquals("/^tcp_/", steps());
    assertEquals(
        state.shape().steps().get(0),
        new Shape.Matching("^tcp_", Search.of("^tcp_", false).pattern().flags(), false));
    assertNull(state.search());
    type("u/^tcp_");
    press(Key.of(Key.Kind.ENTER));
    type("x");
    assertEquals("not /^tcp_/", steps());
  }

  @Test
  void keep_noMatchIsSelected_keepsTheSelected() {
    type("/^tcp_");
    press(Key.of(Key.Kind.ENTER));
    select("redis-server", "main");
    type("f");
    assertEquals("main", steps());
  }

  @Test
  void merge_again_isTakenBack() {
    type("r");
    assertEquals("recursion merged", steps());
    type("r");
    assertEquals(Shape.PLAIN, state.shape());
    assertEquals("recursion as it is", state.message());
  }

  @Test
  void foldRuntimes_again_isTakenBack() {
    type("R");
    assertEquals("runtimes folded", steps());
    assertEquals(Shape.of(new Shape.FoldRuntimes()), state.shape());
    type("rR");
    assertEquals("recursion merged", steps());
    assertEquals("runtimes as they are", state.message());
    type("u");
    assertEquals("runtimes folded › recursion merged", steps());
  }

  @Test
  void collapse_andOpen_isTheModuleOfTheSelected() {
    select("redis-server", "main");
    type("M");
    assertEquals(Shape.of(new Shape.Collapse("redis-server")), state.shape());
    assertEquals("redis-server as one frame; M opens it again", state.message());
    state = state.withShape(state.shape().plus(through("[redis-server]", true)));
    type("M");
    assertEquals(Shape.PLAIN, state.shape(), "nor is anything said of what it was");
  }

  @Test
  void group_asOftenAsThereAreOrders_isAsBefore() {
    List<RootOrder> seen = new ArrayList<>();
    for (int i = 0; i < RootOrder.values().length; i++) {
      seen.add(state.shape().group());
      type("g");
    }
    assertEquals(Set.of(RootOrder.values()), Set.copyOf(seen));
    assertEquals(Shape.PLAIN, state.shape());
  }

  @Test
  void threads_onAndOff_goesBackToWhatTheCommandLineGave() {
    type("H");
    assertEquals(RootOrder.THREAD, state.shape().group());
    type("H");
    assertEquals(Shape.PLAIN, state.shape());
    Shape base = Shape.of(new Shape.Group(RootOrder.PROCESS));
    state = ViewState.initial(StateSet.BUSY, base, 19, 99, 1_000_000_000L);
    type("HH");
    assertEquals(base, state.shape());
  }

  @Test
  void undo_andRedo_goThroughAllShapes() {
    select("redis-server");
    type("frg");
    assertEquals("comm redis-server › recursion merged › by process", steps());
    type("u");
    assertEquals("undone: by process", state.message());
    type("u");
    assertEquals("undone: recursion merged", state.message());
    type("u");
    assertEquals("undone: comm redis-server", state.message());
    assertEquals(Shape.PLAIN, state.shape());
    type("u");
    assertEquals("nothing to undo", state.message());
    type("U");
    assertEquals("again: comm redis-server", state.message());
    type("UUU");
    assertEquals("nothing was undone", state.message());
    assertEquals("comm redis-server › recursion merged › by process", steps());
    type("uux");
    assertEquals("comm redis-server › not comm redis-server", steps());
    type("U");
    assertEquals("nothing was undone", state.message(), "another step has taken its place");
    type("rru");
    assertEquals("undone: no longer recursion merged", state.message());
  }

  @Test
  void undo_veryManySteps_forgetsTheFirst() {
    for (int i = 0; i < 300; i++) {
      type("r");
    }
    int undone = 0;
    while (state.shaping().undone() != null) {
      type("u");
      undone++;
    }
    assertEquals(100, undone);
  }

  @Test
  void undo_inAnotherView_isDoneThere() {
    type("r6u");
    assertEquals(View.CPUS, state.view());
    assertEquals(Shape.PLAIN, state.shape());
  }

  @Test
  void callers_onAndOff_isOfTheViewAndNotUndone() {
    type("I");
    assertEquals(View.CALLERS, state.view());
    assertEquals("reversed", steps());
    type("u");
    assertEquals("nothing to undo", state.message());
    type("rI");
    assertEquals(View.GRAPH, state.view());
    assertEquals("recursion merged", steps());
    type("26");
    assertEquals("recursion merged", steps());
    type("2");
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(View.GRAPH, state.view());
  }

  @Test
  void cgroups_picked_keepOrLeaveOutTheGroup() {
    Step step = Keys.press(scene(), Key.of('G'));
    assertEquals(List.of(new Effect.Rows(PickList.Of.CGROUPS)), step.effects());
    state = step.state();
    state = PickKeys.listed(state, PickList.Of.CGROUPS, Reports.cgroups()).state();
    type("nginx");
    assertEquals(1, state.pick().matching().size());
    press(Key.of(Key.Kind.ENTER));
    assertEquals("cgroup /system.slice/nginx.service", steps());
    assertEquals("only cgroup /system.slice/nginx.service, its past too", state.message());
    type("G");
    state = PickKeys.listed(state, PickList.Of.CGROUPS, Reports.cgroups()).state();
    press(Key.of(Key.Kind.DOWN));
    press(Key.ctrl('x'));
    assertTrue(steps().contains("not cgroup /system.slice"), steps());
    type("G");
    state = PickKeys.listed(state, PickList.Of.CGROUPS, Reports.cgroups()).state();
    press(Key.of(Key.Kind.HOME));
    press(Key.of(Key.Kind.PAGE_UP));
    press(Key.of(Key.Kind.ENTER));
    assertEquals("all control groups", state.message());
    assertEquals(Shape.PLAIN, state.shape());
  }

  @Test
  void callers_andBack_keepZoomsAndSelection() {
    for (int i = 0; i < 3; i++) {
      press(Key.of(Key.Kind.DOWN));
    }
    press(Key.of(Key.Kind.ENTER));
    press(Key.of(Key.Kind.DOWN));
    press(Key.of(Key.Kind.ENTER));
    press(Key.of(Key.Kind.DOWN));
    Place graph = state.place();
    assertEquals(2, graph.zooms().size());
    type("2");
    assertEquals(List.of(), state.zooms());
    assertEquals(graph.selected(), state.selected(), "the same function, wherever it is there");
    press(Key.of(Key.Kind.UP));
    press(Key.of(Key.Kind.ENTER));
    Place callers = state.place();
    // Until the graph is there, the picture is still that of the callers.
    Scene stale = scene();
    state = Keys.press(stale, Key.of('1')).state();
    assertEquals(
        graph, Scene.of(stale.snapshot, state, 120, 40, Pictures.options()).settled().place());
    assertEquals(graph, state.place());
    type("2");
    assertEquals(callers, state.place(), "no other function was selected meanwhile");
    type("1");
    press(Key.of(Key.Kind.UP));
    long other = state.selected();
    type("2");
    assertEquals(other, state.selected());
    assertEquals(List.of(), state.zooms());
  }

  @Test
  void click_onAStep_goesBackToIt() {
    state = state.withShape(ShapePictures.steps());
    Scene scene = scene();
    String row = PictureText.row(scene, scene.crumbRow);
    int x = row.indexOf("readQueryFromClient");
    state = Keys.mouse(scene, new Mouse(Mouse.Kind.PRESS, x, scene.crumbRow)).state();
    assertEquals(ShapePictures.steps().first(3), state.shape());
    assertEquals("back to readQueryFromClient", state.message());
    type("u");
    assertEquals(ShapePictures.steps(), state.shape());
  }

  @Test
  void breadcrumb_anyWidth_hasTheLastStepAndFits() {
    for (int steps = 1; steps <= ShapePictures.steps().steps().size(); steps++) {
      state = Pictures.state().withShape(ShapePictures.steps().first(steps));
      String last = ShapePictures.steps().steps().get(steps - 1).text();
      for (columns = 40; columns <= 220; columns += 3) {
        Scene scene = scene();
        String row = PictureText.row(scene, scene.crumbRow);
        assertTrue(row.contains(last) || row.contains("not pid 977"), columns + ": " + row);
      }
    }
  }

  @Test
  void pick_leftOut_isWithoutTheMarkedRow() {
    type("p");
    state = PickKeys.listed(state, PickList.Of.PROCESSES, Reports.processes()).state();
    press(Key.ctrl('x'));
    assertEquals("nothing would be left; mark a row first", state.message());
    type("redis");
    press(Key.ctrl('x'));
    assertNull(state.pick());
    assertEquals(Shape.of(new Shape.Processes(Set.of(812), true)), state.shape());
    assertEquals("without pid 812 redis-server, its past too", state.message());
    type("c");
    state = PickKeys.listed(state, PickList.Of.COMMS, Reports.processes()).state();
    type("nginx");
    press(Key.of(Key.Kind.DELETE));
    assertEquals("not pid 812 › not comm nginx", steps());
    type("u");
    assertEquals("undone: not comm nginx", state.message());
  }

  @Test
  void pickCpu_oneAndAll_isOfWhatRanThere() {
    type("P");
    assertEquals(List.of(1, 0), state.pick().rows().stream().map(PickRow::id).toList());
    type("0");
    press(Key.of(Key.Kind.ENTER));
    assertEquals("cpu 0", steps());
    assertEquals("only cpu 0; time off the CPU belongs to none, and is left out", state.message());
    type("P");
    press(Key.of(Key.Kind.ENTER));
    assertEquals("all CPUs", state.message());
    assertEquals(Shape.PLAIN, state.shape());
  }

  @Test
  void group_byCpu_showsTimeOnACpuOnlyUntilItIsGroupedInAnotherWay() {
    StateSet before = state.states();
    while (state.shape().group() != RootOrder.CPU) {
      type("g");
    }
    assertEquals(StateSet.ON_CPU, state.states());
    assertEquals(StateSet.ON_CPU, Questions.picture(state, 80).states());
    type("o");
    assertEquals("by CPU there is time on a CPU only; g groups in another way", state.message());
    assertEquals(StateSet.ON_CPU, state.states());
    type("g");
    assertEquals(before, state.states());
  }

  @Test
  void pickState_oneOrAllButOne_isWhatIsShown() {
    type("Osleep");
    press(Key.of(Key.Kind.ENTER));
    assertEquals(StateSet.of(State.SLEEP), state.states());
    assertEquals("time shown: asleep", state.message());
    type("Osleep");
    press(Key.ctrl('x'));
    assertEquals("no other state is shown", state.message());
    press(Key.of(Key.Kind.ESCAPE));
    type("O");
    press(Key.of(Key.Kind.ENTER));
    assertEquals(StateSet.ALL, state.states());
    type("Oqueued");
    press(Key.ctrl('x'));
    assertEquals(StateSet.ALL.bits() & ~StateSet.of(State.QUEUED).bits(), state.states().bits());
  }

  @Test
  void settled_aTreeOfAnotherShape_keepsTheZoomThatThePictureHas() {
    select("redis-server", "main");
    press(Key.of(Key.Kind.ENTER));
    long zoom = state.zoom();
    state = state.withZooms(List.of(new Zoom(zoom | 7L << 32, null)));
    ViewState asked = state.withZooms(List.of(new Zoom(zoom, null)));
    Snapshot snapshot = Pictures.snapshot(tree, asked, columns);
    assertEquals(zoom, scene(snapshot).settled().zoom());
  }
}
