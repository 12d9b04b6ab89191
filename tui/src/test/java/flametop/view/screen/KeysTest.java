package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Moment;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.sampler.Budget;
import flametop.view.base.Key;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.ViewState;
import flametop.view.table.QualityTable;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeysTest extends KeysFixture {
  private void select(String stack) {
    state = Pictures.selecting(state, tree, stack.split(";"));
  }

  @Test
  void down_fromTheRoot_selectsTheWidestChild() {
    press(Key.Kind.DOWN);
    assertEquals("redis-server", selected());
    press(Key.Kind.DOWN, Key.Kind.DOWN);
    assertEquals("aeMain", selected());
    press(Key.Kind.UP);
    assertEquals("main", selected());
  }

  @Test
  void source_onAndOff_asksOnceAndEscapeClosesIt() {
    press(Key.Kind.DOWN, Key.Kind.DOWN);
    type("S");
    assertEquals(List.of(new Effect.Source()), effects);
    assertEquals(ViewState.NO_SOURCE, state.source());
    long node = state.selected();
    state = state.withSource(Reports.source(node));
    press(Key.Kind.DOWN);
    assertEquals(node, state.source().node(), "until the next one is there");
    press(Key.Kind.ESCAPE);
    assertNull(state.source());
    assertNull(state.withAnswer(Reports.source(node)).source(), "an answer does not open it");
    type("SS");
    assertNull(state.source());
    assertEquals(List.of(), effects);
  }

  @Test
  void up_atTheRoot_saysSo() {
    press(Key.Kind.UP);
    assertEquals("already at the root", state.message());
  }

  @Test
  void down_onALeaf_saysSo() {
    select("kworker/u8:2;ret_from_fork;worker_thread;process_one_work;wb_workfn");
    type("j");
    assertEquals("nothing below", state.message());
  }

  @Test
  void press_theSameAnswerAgain_isCounted() {
    type("k");
    assertEquals("already at the root", state.said().counted());
    type("k");
    assertEquals("already at the root ×2", state.said().counted());
    type("k");
    assertEquals("already at the root ×3", state.said().counted());
    type("jk");
    assertEquals("", state.said().counted());
    type("k");
    assertEquals("already at the root", state.said().counted());
  }

  @Test
  void escape_atTheRoot_saysHowToQuitUntilAnotherKey() {
    press(Key.Kind.ESCAPE);
    assertEquals("already at the root; q quits", state.said().counted());
    press(Key.Kind.ESCAPE);
    assertEquals("already at the root; q quits ×2", state.said().counted());
    assertEquals(List.of(), effects);
    press(Key.Kind.DOWN);
    assertEquals("", state.said().counted());
  }

  @Test
  void up_inAFlame_goesTowardsTheLeaves() {
    type("ik");
    assertEquals("redis-server", selected());
    type("j");
    assertEquals("all", selected());
  }

  @Test
  void left_acrossAGap_selectsTheCousin() {
    select("postgres;main;ServerLoop;BackendStartup;PostgresMain;CommitTransaction");
    type("h");
    assertEquals("Worker.loop", selected());
    type("l");
    assertEquals("CommitTransaction", selected());
  }

  @Test
  void right_atTheLastBox_saysSo() {
    press(Key.Kind.RIGHT);
    assertEquals("nothing to the right", state.message());
  }

  @Test
  void enter_thenEscape_zoomsInAndBack() {
    press(Key.Kind.DOWN, Key.Kind.DOWN, Key.Kind.ENTER);
    assertEquals(tree.find("redis-server", "main").id, state.zoom());
    press(Key.Kind.ENTER);
    assertEquals("already zoomed to it; esc goes back", state.message());
    press(Key.Kind.ESCAPE);
    assertEquals(GraphQuery.ROOT, state.zoom());
    press(Key.Kind.ESCAPE);
    assertEquals("already at the root; q quits", state.message());
    assertTrue(effects.isEmpty());
  }

  @Test
  void zero_zoomedTwice_showsAll() {
    press(Key.Kind.DOWN, Key.Kind.ENTER, Key.Kind.DOWN, Key.Kind.ENTER);
    assertEquals(2, state.zooms().size());
    type("0");
    assertTrue(state.zooms().isEmpty());
    type("0");
    assertEquals("already at the root", state.message());
  }

  @Test
  void enter_onARun_opensIt() {
    press(Key.Kind.DOWN, Key.Kind.RIGHT);
    Scene before = scene();
    assertTrue(before.geometry.isRun(before.selectedBox));
    press(Key.Kind.ENTER);
    assertNotNull(state.place().siblings());
    Scene after = scene();
    assertTrue(after.geometry.size() > 3);
    for (int i = 1; i < after.geometry.size(); i++) {
      assertFalse(
          after.geometry.isRun(i) && after.geometry.level(i) == 1, "what was thin is drawn");
    }
    press(Key.Kind.ESCAPE);
    assertNull(state.place().siblings());
  }

  @Test
  void z_withAFrameSelected_beginsAtThePresentAtTheRootUntilM() {
    Moment before = state.moment();
    press(Key.Kind.DOWN, Key.Kind.DOWN);
    type("z");
    assertEquals(GraphQuery.ROOT, state.selected());
    long present = scene().snapshot.live().host().time();
    assertEquals(before.beginningAt(present), state.moment());
    type("z");
    assertEquals("started anew; m goes back to the last 30 s", state.message());
    type("m");
    assertEquals(before, state.moment());
  }

  @Test
  void space_freezesAndThaws() {
    type(" ");
    assertTrue(state.moment().frozen());
    type(" ");
    assertFalse(state.moment().frozen());
  }

  @Test
  void o_fourTimes_comesRound() {
    StateSet[] expected = {StateSet.ON_CPU, StateSet.OFF_CPU, StateSet.ALL, StateSet.BUSY};
    for (StateSet states : expected) {
      type("o");
      assertEquals(states, state.states());
    }
  }

  @Test
  void m_fourTimes_comesRound() {
    assertEquals(30_000_000_000L, state.moment().windowNanos());
    type("m");
    assertEquals(300_000_000_000L, state.moment().windowNanos());
    type("m");
    assertEquals(Long.MAX_VALUE, state.moment().windowNanos());
    type("mm");
    assertEquals(30_000_000_000L, state.moment().windowNanos());
  }

  @Test
  void plusAndMinus_stepThroughTheRates() {
    type("+");
    assertEquals(List.of(new Effect.Rates(49, 99)), effects);
    type("++");
    assertEquals("passes: 99 Hz is the highest", state.message());
    assertTrue(effects.isEmpty());
    type("<<<");
    assertEquals(List.of(new Effect.Rates(99, 0)), effects);
    type(">");
    assertEquals(19, state.pace().cpuHz());
  }

  @Test
  void plus_fromAnOddRate_goesToTheNextStep() {
    state = state.withPace(new Budget.Pace(state.pace().refreshNanos(), true, 25, 1000));
    type("+");
    assertEquals(49, state.pace().passHz());
    type(">");
    assertEquals("cpu clock: 1000 Hz is the highest", state.message());
  }

  @Test
  void d_sixTimes_comesRound() {
    long first = state.pace().refreshNanos();
    type("ddddd");
    assertEquals(first, state.pace().refreshNanos());
  }

  @Test
  void unknownKey_isAnswered() {
    type("w");
    assertEquals("w does nothing here; ? lists the keys", state.message());
    press(Key.Kind.OTHER);
    assertEquals("that key does nothing here; ? lists the keys", state.message());
  }

  @Test
  void everyKey_beforeTheFirstSnapshot_isAnsweredWithoutFailing() {
    Scene empty = Scene.of(Snapshot.OPENING, state, 80, 24, Pictures.options());
    for (Key.Kind kind : Key.Kind.values()) {
      assertNotNull(Keys.press(empty, Key.of(kind)));
    }
    for (int c = ' '; c < 127; c++) {
      assertNotNull(Keys.press(empty, Key.of(c)));
    }
  }

  @Test
  void selection_frameGoneFromTheSlice_isDrawnOnItsNearestAncestor() {
    select("redis-server;main;aeMain");
    Tree later = new Tree();
    later.stack(500, "redis-server", "main");
    Snapshot snapshot = Pictures.snapshot(later, Pictures.state(), 80);
    Scene scene = Scene.of(snapshot, state, 80, 24, Pictures.options());
    assertEquals("main", scene.geometry.slice().name()[scene.geometry.node(scene.selectedBox)]);
  }

  @Test
  void deepGraph_selectedFrame_isAlwaysInSight() {
    Tree deep = Trees.deep(120);
    ViewState s = Pictures.state();
    for (int rows : new int[] {10, 12, 16, 24, 40}) {
      ViewState at = s;
      for (int i = 0; i < 130; i++) {
        Scene scene = Pictures.scene(deep, at, 80, rows);
        assertTrue(
            scene.plot.rowOf(scene.geometry.level(scene.selectedBox)) >= 0,
            "rows " + rows + " step " + i);
        Painter.paint(scene);
        at = Keys.press(scene, Key.of(i < 125 ? Key.Kind.DOWN : Key.Kind.PAGE_UP)).state();
      }
    }
  }

  @Test
  void tab_andDigits_chooseTheView() {
    int views = View.values().length;
    for (int i = 1; i <= views; i++) {
      press(Key.Kind.TAB);
      assertEquals(View.values()[i % views], state.view());
    }
    type("8");
    assertEquals(View.QUALITY, state.view());
    type("1");
    assertEquals(View.GRAPH, state.view());
    type("~");
    assertEquals("~ does nothing here; ? lists the keys", state.message());
  }

  @Test
  void events_enter_showsTheGraphOfTheMeasureInAllStates() {
    state = state.withStates(StateSet.OFF_CPU);
    type("9j");
    press(Key.of(Key.Kind.ENTER));
    assertEquals(View.GRAPH, state.view());
    assertEquals(StateSet.ALL, state.states());
    assertEquals(List.of(new Effect.ShowMeasure(0)), effects);
    assertEquals("shows fault,weight=bytes", state.message());
  }

  @Test
  void events_enterOnAMissingOne_saysWhy() {
    type("9jjjj");
    press(Key.of(Key.Kind.ENTER));
    assertEquals(View.EVENTS, state.view());
    assertTrue(state.message().startsWith("cycles: this machine has no hardware counters"));
    assertEquals(List.of(), effects);
  }

  @Test
  void quality_enter_showsTheGraphOfTheMarkedProcess() {
    type("8j");
    press(Key.of(Key.Kind.ENTER));
    assertEquals(View.GRAPH, state.view());
    assertEquals("pid 2204118", state.chosenShape().toString());
  }

  @Test
  void quality_enterOnAModule_saysThatItIsNoFilter() {
    type("8b");
    press(Key.of(Key.Kind.ENTER));
    assertEquals(View.QUALITY, state.view());
    assertTrue(state.message().startsWith("a module is no filter"));
    assertEquals(List.of(), effects);
  }

  @Test
  void quality_sort_keepsTheMarkedRowMarked() {
    type("8j");
    String marked = QualityTable.TABLE.place(state).marked();
    assertEquals("2204118/java", marked);
    type("s");
    assertEquals("first by short ones", state.message());
    assertEquals(marked, QualityTable.TABLE.place(state).marked());
    assertEquals(0, QualityTable.TABLE.layout(scene()).marked());
    press(Key.of(Key.Kind.UP));
    assertEquals("already at the top", state.message());
  }

  @Test
  void quality_everyOtherKey_answersOrActs() {
    type("8m");
    assertEquals("the last 5 min", state.message());
    type(" ");
    assertTrue(state.moment().frozen());
    type("/");
    assertEquals("/ does nothing here; ? lists the keys", state.message());
    press(Key.of(Key.Kind.ESCAPE));
    assertEquals(View.GRAPH, state.view());
  }
}
