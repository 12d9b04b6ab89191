package flametop.view.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Function;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.SandwichQuery;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.View;
import flametop.view.layout.Geometry;
import flametop.view.layout.Plot;
import flametop.view.layout.SandwichLayout;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.SandwichPictures;
import flametop.view.screen.Tree;
import flametop.view.screen.Trees;
import flametop.view.state.Effect;
import flametop.view.state.Place;
import flametop.view.state.Questions;
import flametop.view.state.SandwichPlace;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SandwichKeysTest {
  private static final int[] SIZE = {120, 34};

  private Tree tree = Trees.server();
  private ViewState state = SandwichPictures.of("entry_SYSCALL_64", NodeKind.KERNEL, "[kernel]");
  private List<Effect> effects = List.of();

  private Scene scene() {
    return SandwichPictures.scene(tree, state, SIZE);
  }

  private void press(String... keys) {
    for (String key : keys) {
      Step step = Keys.press(scene(), Key.parse(key));
      effects = step.effects();
      state = step.state();
      arrive();
    }
  }

  private void arrive() {
    state = Keys.arrived(scene()).state();
  }

  private void mouse(Mouse.Kind kind, int x, int y) {
    state = Keys.mouse(scene(), new Mouse(kind, x, y)).state();
  }

  private void click(int x, int y) {
    mouse(Mouse.Kind.PRESS, x, y);
    mouse(Mouse.Kind.RELEASE, x, y);
  }

  private String middle() {
    return state.sandwich().function().name();
  }

  private String selected() {
    Scene scene = scene();
    Geometry g = scene.geometry;
    return g.slice().name()[g.node(scene.selectedBox)];
  }

  private String zoom(boolean callees) {
    Place place = callees ? state.sandwich().callees() : state.sandwich().callers();
    return tree.half(middle(), !callees).nodes.get((int) place.zoom()).name;
  }

  private String row(int y) {
    return PictureText.row(scene(), y);
  }

  @Test
  void arrows_oneTallGraph_goThroughTheFunction() {
    assertEquals("entry_SYSCALL_64", selected());
    press("up");
    assertEquals("__write", selected());
    press("up");
    assertEquals("writeToClient", selected());
    press("left", "left");
    assertEquals("nothing to the left", state.message());
    press("down", "left");
    assertEquals("__read", selected());
    press("down");
    assertEquals("entry_SYSCALL_64", selected());
    press("down");
    assertEquals("ksys_write", selected());
    press("up", "up");
    assertEquals("__write", selected());
    press("right");
    assertFalse(selected().equals("__write"));
  }

  @Test
  void completion_ofAFunctionThatIsNotThere_saysSo() {
    state = SandwichPictures.of("nowhere", NodeKind.USER, "app");
    assertTrue(scene().sandwich.empty());
    press("/", "tab");
    assertEquals("no name in sight has this text", state.message());
  }

  @Test
  void ends_anywhere_areTheFunctionAndTheOutermost() {
    press("up", "end");
    assertEquals("main", selected());
    press("up");
    assertEquals("nothing above", state.message());
    press("home");
    assertEquals("entry_SYSCALL_64", selected());
    press("home");
    assertEquals("already at the function", state.message());
    press("pgdn");
    assertEquals("tcp_write_xmit", selected());
    press("down");
    assertEquals("nothing below", state.message());
    press("home", "pgup");
    assertEquals("main", selected());
  }

  @Test
  void zoom_eachHalf_isItsOwnAndEscGoesBack() {
    press("up", "enter");
    assertEquals("__write", zoom(false));
    press("home", "down", "enter");
    assertEquals("ksys_write", zoom(true));
    assertEquals("__write", zoom(false));
    SandwichQuery query = (SandwichQuery) Questions.page(state, 120);
    assertTrue(query.callers() != GraphQuery.ROOT && query.callees() != GraphQuery.ROOT);
    press("esc");
    assertEquals("all", zoom(true));
    assertEquals("__write", zoom(false));
    press("esc");
    assertEquals("all", zoom(false));
    assertEquals(View.SANDWICH, state.view());
    press("esc");
    assertEquals(View.GRAPH, state.view());
  }

  @Test
  void root_zoomed_showsAllOfBothHalves() {
    press("up", "enter", "home", "down", "enter", "0");
    assertEquals("all", zoom(true));
    assertEquals("all", zoom(false));
    press("0");
    assertEquals("nothing is zoomed", state.message());
  }

  @Test
  void sandwich_ofAnother_isTheMiddleAndEscGoesBack() {
    press("up", "s");
    assertEquals("__write", middle());
    press("down");
    assertEquals("entry_SYSCALL_64", selected());
    press("s");
    assertEquals("entry_SYSCALL_64", middle());
    press("s");
    assertEquals("this function is in the middle; choose a caller or a callee", state.message());
    press("esc");
    assertEquals("__write", middle());
    press("esc");
    assertEquals("entry_SYSCALL_64", middle());
    press("esc");
    assertEquals(View.GRAPH, state.view());
    press("3");
    assertEquals("entry_SYSCALL_64", middle());
  }

  @Test
  void back_fromTheTopFunctions_leadsThere() {
    state =
        Pictures.state()
            .withView(View.QUALITY)
            .withSandwich(new Function(NodeKind.USER, "nginx", "main"));
    press("up", "s");
    press("esc");
    assertEquals(View.QUALITY, state.view());
  }

  @Test
  void sandwich_inTheGraph_isOfTheSelectedFunction() {
    state = Pictures.state();
    press("s");
    assertEquals("a sandwich needs a function: select one, then s", state.message());
    state = Pictures.selecting(state, tree, "redis-server");
    press("s");
    assertEquals(View.GRAPH, state.view());
    state = Pictures.selecting(state, tree, "redis-server", "main");
    press("s");
    assertEquals(View.SANDWICH, state.view());
    assertEquals(new Function(NodeKind.USER, "redis-server", "main"), state.sandwich().function());
  }

  @Test
  void sandwich_ofWhatWasNotToldYet_waitsForIt() {
    state = Pictures.selecting(Pictures.state(), tree, "redis-server");
    Scene before = scene();
    ViewState moved = Keys.press(before, Key.parse("down")).state();
    // The picture is still that of before the key.
    Scene behind = before.with(moved);
    state = Keys.press(behind, Key.parse("s")).state();
    assertEquals(View.GRAPH, state.view());
    arrive();
    assertEquals(View.SANDWICH, state.view());
    assertEquals("main", middle());
    press("esc");
    assertEquals(View.GRAPH, state.view());
  }

  @Test
  void show_withoutAFunction_takesTheSelectedOrSaysHow() {
    state = Pictures.state();
    press("3");
    assertNull(state.sandwich().function());
    Scene none = scene();
    assertTrue(
        row(none.graphTop + none.graphRows / 2)
            .contains("select a function in the graph, press s"));
    // Every key is answered.
    for (String key : new String[] {"up", "left", "enter", "end", "y", "n", "s", "0", "C", "i"}) {
      press(key);
      assertFalse(state.message().isEmpty(), key);
    }
    press("1");
    state = Pictures.selecting(state, tree, "redis-server", "main", "aeMain");
    press("3");
    assertEquals("aeMain", middle());
  }

  @Test
  void search_keys_goFromTheOutermostCallerToTheInnermostCallee() {
    press("/", "_", "_", "enter");
    assertEquals("match 1 of 2", state.message());
    assertEquals("__write", selected());
    press("n");
    assertEquals("__read", selected());
    press("n", "esc", "/", "s", "y", "s");
    for (int i = 0; i < 4; i++) {
      press("backspace");
    }
    press("/", "t", "c", "p", "enter");
    assertTrue(state.sandwich().below());
    assertTrue(selected().startsWith("tcp"), selected());
    press("N", "N", "N");
    assertTrue(selected().startsWith("tcp"), selected());
    press("/", "x", "y", "z", "enter");
    assertEquals("no match yet", state.message());
  }

  @Test
  void copy_keys_areTheNameOfWhatIsSelected() {
    press("y");
    assertEquals(List.of(new Effect.Copy("entry_SYSCALL_64")), effects);
    press("up", "y");
    assertEquals(List.of(new Effect.Copy("__write")), effects);
  }

  @Test
  void flip_inASandwich_saysWhyNot() {
    press("i");
    assertEquals("callers grow upwards, callees downwards: nothing to flip", state.message());
    press("1", "i");
    assertTrue(state.flame());
    press("3", "down");
    assertEquals("ksys_write", selected());
  }

  @Test
  void mouse_eitherHalf_selectsZoomsAndScrolls() {
    Scene scene = scene();
    int middle = scene.sandwich.middle();
    click(2, middle - 1);
    assertFalse(state.sandwich().below());
    String caller = selected();
    mouse(Mouse.Kind.DOUBLE, 2, middle - 1);
    assertEquals(caller, zoom(false));
    click(2, middle + 1);
    assertTrue(state.sandwich().below());
    assertTrue(row(middle + 1).contains(selected()));
    click(2, middle);
    assertEquals("entry_SYSCALL_64", selected());
    mouse(Mouse.Kind.DOUBLE, 2, middle);
    assertEquals("all", zoom(false));
    tree = Trees.deep(90);
    String function = tree.nodes.get(45).name;
    state = SandwichPictures.of(function, NodeKind.USER, "deep");
    mouse(Mouse.Kind.WHEEL_UP, 10, scene().sandwich.middle() - 2);
    assertEquals(3, scene().sandwich.callers().levelsBefore());
    assertEquals(0, scene().sandwich.callees().levelsBefore());
    assertEquals(function, selected());
    mouse(Mouse.Kind.WHEEL_DOWN, 10, scene().sandwich.middle() + 2);
    assertEquals(3, scene().sandwich.callees().levelsBefore());
  }

  @Test
  void shape_keys_actOnWhatIsSelectedInTheSandwich() {
    press("up", "f");
    assertEquals(1, state.chosenShape().steps().size());
    assertEquals(View.SANDWICH, state.view());
    press("u", "g");
    assertEquals(0, state.chosenShape().steps().size());
    assertEquals("one function is in the middle: a sandwich is not grouped", state.message());
    press("home", "x");
    assertEquals(1, state.chosenShape().steps().size());
  }

  @Test
  void restart_zoomed_isAtTheFunction() {
    press("up", "enter", "z");
    assertEquals("all", zoom(false));
    assertEquals("entry_SYSCALL_64", selected());
    assertTrue(state.moment().since().isPresent());
  }

  @Test
  void split_levelsThatComeAndGo_doNotMoveTheFunction() {
    SandwichPlace.Halves split = SandwichPlace.Halves.of(null, 15, 4, 6);
    for (int[] levels : new int[][] {{4, 5}, {3, 6}, {5, 6}, {4, 7}}) {
      assertEquals(split, SandwichPlace.Halves.of(split, 15, levels[0], levels[1]));
    }
    SandwichPlace.Halves full = SandwichPlace.Halves.of(split, 15, 30, 40);
    assertEquals(full, SandwichPlace.Halves.of(full, 15, 40, 30));
  }

  @Test
  void split_anyLevels_isFair() {
    Random random = new Random(5);
    SandwichPlace.Halves split = null;
    for (int i = 0; i < 10_000; i++) {
      int room = 7 + random.nextInt(60);
      int callers = random.nextInt(120);
      int callees = random.nextInt(120);
      split = SandwichPlace.Halves.of(random.nextBoolean() ? split : null, room, callers, callees);
      assertEquals(room, split.upper() + 1 + split.lower());
      assertTrue(split.upper() >= 3 && split.lower() >= 3);
      boolean emptyRows =
          split.upper() > Math.max(3, callers) || split.lower() > Math.max(3, callees);
      boolean hidden = callers > split.upper() || callees > split.lower();
      assertFalse(emptyRows && hidden, callers + " " + callees + " in " + split);
    }
  }

  /** Random sandwiches: what is drawn is in its half, and no box is over another. */
  @Test
  void layout_anyTreeSizeAndPlace_boxesDoNotOverlap() {
    Random random = new Random(7);
    for (int i = 0; i < 40; i++) {
      tree = random(random);
      int[] size = {40 + random.nextInt(180), 10 + random.nextInt(60)};
      state = SandwichPictures.of("f" + random.nextInt(6), NodeKind.USER, "app");
      for (int key = 0; key < 6; key++) {
        String[] keys = {"up", "down", "left", "right", "enter", "end", "pgup", "pgdn", "esc"};
        Scene scene = SandwichPictures.scene(tree, state, size);
        check(scene);
        Painter.paint(scene);
        ViewState next = Keys.press(scene, Key.parse(keys[random.nextInt(keys.length)])).state();
        state = next.view() == View.SANDWICH ? next : state;
      }
    }
  }

  private static void check(Scene scene) {
    SandwichLayout layout = scene.sandwich;
    assertTrue(layout.middle() >= scene.graphTop);
    assertTrue(layout.middle() < scene.graphTop + scene.graphRows);
    for (boolean below : new boolean[] {false, true}) {
      Plot plot = layout.at(below);
      int top = below ? layout.middle() + 1 : scene.graphTop;
      int end = below ? scene.graphTop + scene.graphRows : layout.middle();
      assertEquals(top, plot.top);
      assertEquals(end, plot.top + plot.rows);
      List<Integer> rows = new ArrayList<>();
      Geometry g = plot.geometry;
      for (int level = 0; level < g.levels(); level++) {
        int row = plot.rowOf(level);
        if (level < SandwichLayout.BASE) {
          assertEquals(-1, row);
        }
        if (row >= 0) {
          assertTrue(row >= top && row < end, "row " + row);
          assertFalse(rows.contains(row));
          rows.add(row);
          for (int box = g.levelStart(level); box < g.levelStart(level + 1); box++) {
            int before = box == g.levelStart(level) ? 0 : g.right(box - 1);
            assertTrue(g.left(box) >= before && g.right(box) <= scene.columns * Geometry.CELL);
          }
        }
      }
    }
    if (!scene.plot.atBase()) {
      assertTrue(scene.plot.rowOf(scene.geometry.level(scene.selectedBox)) >= 0, "in sight");
    }
  }

  private static Tree random(Random random) {
    Tree tree = new Tree();
    int stacks = 1 + random.nextInt(60);
    int most = 2 + random.nextInt(60);
    for (int i = 0; i < stacks; i++) {
      String[] frames = new String[1 + random.nextInt(most)];
      frames[0] = "app" + random.nextInt(2);
      for (int f = 1; f < frames.length; f++) {
        frames[f] = "f" + random.nextInt(6);
      }
      tree.stack(1 + random.nextInt(random.nextBoolean() ? 5 : 1000), frames);
    }
    return tree;
  }
}
