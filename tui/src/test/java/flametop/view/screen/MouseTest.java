package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.QualityReport;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.sampler.WalkEnd;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.base.View;
import flametop.view.base.Zone;
import flametop.view.keys.PickKeys;
import flametop.view.layout.Geometry;
import flametop.view.layout.KeyLine;
import flametop.view.layout.Scene;
import flametop.view.state.PickList;
import flametop.view.state.ViewState;
import flametop.view.table.QualityTable;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MouseTest extends ScreenUser {
  private Tree tree = Trees.server();

  @Override
  protected Scene scene() {
    return Scene.of(
        Pictures.snapshot(tree, state, 120), Reports.quality(), state, 120, 30, Pictures.options());
  }

  private void click(int x, int y) {
    mouse(Mouse.Kind.PRESS, x, y);
    mouse(Mouse.Kind.RELEASE, x, y);
  }

  /** The row of the screen that shows a text, and the column where it begins. */
  private int[] find(String text) {
    CellGrid grid = Painter.paint(scene());
    for (int y = 0; y < grid.rows(); y++) {
      String row = PictureText.row(grid, y);
      if (row.indexOf(text) >= 0) {
        return new int[] {row.indexOf(text), y};
      }
    }
    throw new AssertionError("not shown: " + text);
  }

  private void clickOn(String text) {
    int[] at = find(text);
    click(at[0], at[1]);
  }

  private void doubleClickOn(String text) {
    int[] at = find(text);
    click(at[0], at[1]);
    mouse(Mouse.Kind.DOUBLE, at[0], at[1]);
    mouse(Mouse.Kind.RELEASE, at[0], at[1]);
  }

  private String selected() {
    return tree.nodes.get((int) state.selected()).name;
  }

  @Test
  void press_onAKeyBesideAnAnswer_worksAndOnTheAnswerDoesNot() {
    state = state.withMessage("nothing to the right");
    for (int x = 0; x < 22; x++) {
      assertNull(Zone.at(KeyLine.of(scene()).zones(), x, scene().rows - 1), "column " + x);
    }
    clickOn("? help");
    assertTrue(state.help());
  }

  @Test
  void press_onEveryCellOfABox_selectsIt() {
    Scene scene = scene();
    Geometry g = scene.geometry;
    for (int box = 0; box < g.size(); box++) {
      int x = (g.left(box) + g.right(box)) / 2 / Geometry.CELL;
      boolean own = g.left(box) <= x * 8 + 4 && x * 8 + 4 < g.right(box);
      int y = scene.plot.rowOf(g.level(box));
      if (own && y >= 0 && !g.isRun(box)) {
        click(x, y);
        assertEquals(g.slice().node()[g.node(box)], state.selected());
      }
    }
  }

  @Test
  void doubleClick_onAFrame_zoomsToIt() {
    doubleClickOn("aeMain");
    assertEquals("aeMain", selected());
    assertEquals(state.selected(), state.zoom());
  }

  @Test
  void press_onNothing_saysSo() {
    Scene scene = scene();
    click(119, scene.graphTop + scene.graphRows - 1);
    assertEquals("nothing here", state.message());
  }

  @Test
  void wheel_deepGraph_scrollsToBothEndsAndKeepsTheSelectionInSight() {
    tree = Trees.deep(120);
    int seen = 0;
    for (int i = 0; i < 60; i++) {
      mouse(Mouse.Kind.WHEEL_DOWN, 10, 15);
      Scene scene = scene();
      assertTrue(scene.plot.firstLevel >= seen, "never back");
      seen = scene.plot.firstLevel;
      assertTrue(scene.plot.rowOf(scene.geometry.level(scene.selectedBox)) >= 0);
    }
    assertEquals(0, scene().plot.levelsBeyond());
    assertEquals("nothing below", state.message());
    for (int i = 0; i < 60; i++) {
      mouse(Mouse.Kind.WHEEL_UP, 10, 15);
    }
    assertEquals(0, scene().plot.firstLevel);
    assertEquals("the root is in sight", state.message());
  }

  @Test
  void wheel_inAFlame_upGoesTowardsTheLeaves() {
    tree = Trees.deep(120);
    state = state.flipped();
    mouse(Mouse.Kind.WHEEL_UP, 10, 15);
    assertEquals(3, scene().plot.firstLevel);
  }

  @Test
  void wheel_allInSight_saysSo() {
    mouse(Mouse.Kind.WHEEL_DOWN, 10, 15);
    assertEquals("every level is in sight", state.message());
  }

  @Test
  void press_onTheLineOfKeys_doesWhatItSays() {
    clickOn("space freeze");
    assertTrue(state.moment().frozen());
    click(1, 1);
    clickOn("? help");
    assertTrue(state.help());
    click(50, 10);
    assertFalse(state.help());
    clickOn("o states");
    assertEquals("time shown: on cpu (run)", state.message());
    click(5, 29);
    assertEquals("", state.message(), "a message is no key");
  }

  @Test
  void press_onAPairOfKeys_doesTheOneUnderIt() {
    int plus = -1;
    Scene wide = Pictures.scene(tree, state, 340, 30);
    for (int x = 0; x < 340; x++) {
      if (Zone.at(KeyLine.of(wide).zones(), x, wide.rows - 1) == Action.FEWER_PASSES) {
        plus = x - 1;
      }
    }
    assertEquals(Action.MORE_PASSES, Zone.at(KeyLine.of(wide).zones(), plus, wide.rows - 1));
    assertEquals(
        Action.MORE_PASSES,
        Zone.at(KeyLine.of(wide).zones(), plus + 3, wide.rows - 1),
        "on the word");
  }

  @Test
  void press_onTheHeader_freezesShowsStatesAndQuality() {
    clickOn("● live");
    assertTrue(state.moment().frozen());
    clickOn("30 s");
    assertEquals("the last 5 min", state.message());
    clickOn("lost ");
    assertEquals(View.QUALITY, state.view());
    clickOn("busy");
    assertEquals(View.QUALITY, state.view(), "states are none of its actions");
  }

  @Test
  void pickList_clickMarksSecondPicksOutsideCloses() {
    state = Keys.press(scene(), Key.of('p')).state();
    state = PickKeys.listed(state, PickList.Of.PROCESSES, Reports.processes()).state();
    doubleClickOn("redis-server");
    assertNull(state.pick());
    assertEquals(Shape.of(new Shape.Processes(Set.of(812), false)), state.chosenShape());
    state = Keys.press(scene(), Key.of('p')).state();
    click(3, 1);
    assertNull(state.pick());
  }

  @Test
  void formats_secondClickExportsOutsideCloses() {
    state = Keys.press(scene(), Key.of('e')).state();
    int[] at = find("this screen as text");
    click(at[0], at[1]);
    mouse(Mouse.Kind.DOUBLE, at[0], at[1]);
    assertEquals("exporting…", state.message());
    assertFalse(state.formats().open());
    state = Keys.press(scene(), Key.of('e')).state();
    click(3, 1);
    assertFalse(state.formats().open());
  }

  @Test
  void quality_clickMarksSecondShowsTheGraphHeadSorts() {
    state = state.withView(View.QUALITY);
    clickOn("pid process");
    assertEquals("first by pid", state.message());
    clickOn("whole  guessed");
    assertEquals("first by share of short ones", state.message());
    clickOn("postgres");
    assertEquals("977/postgres", QualityTable.TABLE.place(state).marked());
    int[] at = find("postgres");
    mouse(Mouse.Kind.DOUBLE, at[0], at[1]);
    assertEquals(View.GRAPH, state.view());
    assertEquals(Shape.of(new Shape.Processes(Set.of(977), false)), state.chosenShape());
  }

  @Test
  void quality_clickOnAReason_sortsByIt() {
    state = state.withView(View.QUALITY);
    Scene scene = wideQuality();
    int y = QualityTable.TABLE.layout(scene).head();
    int x = PictureText.row(scene, y).indexOf("no unwind");
    state = Keys.mouse(scene, new Mouse(Mouse.Kind.PRESS, x, y)).state();
    assertEquals("first by short ones: no unwind info", state.message());
    List<QualityReport.Row> rows = QualityTable.TABLE.layout(wideQuality()).rows();
    for (int i = 1; i < rows.size(); i++) {
      long before = rows.get(i - 1).counts().of(WalkEnd.NO_UNWIND_INFO);
      assertTrue(before >= rows.get(i).counts().of(WalkEnd.NO_UNWIND_INFO));
    }
    state = Keys.press(wideQuality(), Key.of('s')).state();
    assertEquals("first by share of short ones", state.message());
  }

  private Scene wideQuality() {
    return Scene.of(Snapshot.OPENING, Reports.quality(), state, 200, 30, Pictures.options());
  }

  @Test
  void drag_anywhere_changesNothingInTheGraph() {
    clickOn("aeMain");
    long before = state.selected();
    for (int y = 0; y < 30; y++) {
      mouse(Mouse.Kind.DRAG, 60, y);
    }
    assertEquals(before, state.selected());
    assertEquals(List.of(), effects);
  }

  @Test
  void anyEvent_anywhereBeforeTheFirstSnapshotOrTooSmall_isTaken() {
    for (View view : View.values()) {
      for (Mouse.Kind kind : Mouse.Kind.values()) {
        for (int y = 0; y < 12; y++) {
          ViewState s = Pictures.state().withView(view);
          for (int columns : new int[] {39, 80}) {
            Scene empty = Scene.of(Snapshot.OPENING, s, columns, 11, Pictures.options());
            Keys.mouse(empty, new Mouse(kind, 300, y));
          }
        }
      }
    }
  }
}
