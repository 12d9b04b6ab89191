package flametop.view.screen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.view.base.Action;
import flametop.view.base.ExportFormat;
import flametop.view.base.Key;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.keys.PickKeys;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.PickList;
import flametop.view.state.PickRow;
import flametop.view.state.Step;
import flametop.view.state.ViewActions;
import flametop.view.state.ViewState;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Keys of lists that are open, of the search, and of the help. */
class ListKeysTest extends KeysFixture {
  @Test
  void slash_asTyped_searchesAndCountsMatches() {
    type("/^tcp_");
    assertEquals("^tcp_", state.search().text());
    assertEquals(3, scene().snapshot.search().count());
    press(Key.Kind.ENTER);
    assertFalse(state.search().typing());
    assertEquals("match 1 of 3", state.message());
    String first = selected();
    type("n");
    assertEquals("match 2 of 3", state.message());
    type("N");
    assertEquals(first, selected());
    press(Key.Kind.ESCAPE);
    assertNull(state.search());
  }

  /** What was found for a text typed earlier is no answer: the first match waits for its own. */
  @Test
  void enter_beforeTheAnswerIsThere_goesToTheFirstMatchWhenItComes() {
    type("/^tcp");
    Snapshot earlier = scene().snapshot;
    String before = selected();
    for (Key key : List.of(Key.of('_'), Key.of(Key.Kind.ENTER))) {
      state = Keys.press(sceneOf(earlier), key).state();
    }
    assertEquals("searching…", state.message());
    state = Keys.arrived(sceneOf(earlier)).state();
    assertEquals(before, selected());
    state = Keys.arrived(scene()).state();
    assertEquals("match 1 of 3", state.message());
    assertTrue(selected().startsWith("tcp_"), selected());
    press(Key.Kind.UP);
    String chosen = selected();
    state = Keys.arrived(scene()).state();
    assertEquals(chosen, selected(), "a later picture leaves the selection alone");
  }

  @Test
  void enter_thenAnotherKeyBeforeTheAnswer_leavesTheSelectionToThatKey() {
    Snapshot without = scene().snapshot;
    for (int c : "/^tcp_".chars().toArray()) {
      state = Keys.press(sceneOf(without), Key.of(c)).state();
    }
    state = Keys.press(sceneOf(without), Key.of(Key.Kind.ENTER)).state();
    state = Keys.press(sceneOf(without), Key.of(Key.Kind.DOWN)).state();
    String chosen = selected();
    state = Keys.arrived(scene()).state();
    assertEquals(chosen, selected());
  }

  @Test
  void enter_aSearchThatTheSelectedMatches_staysThere() {
    press(Key.Kind.DOWN, Key.Kind.DOWN);
    String before = selected();
    type("/main");
    press(Key.Kind.ENTER);
    assertEquals(before, selected());
    assertEquals("the selected frame matches; n goes on", state.message());
  }

  @Test
  void n_matchesTooThinToDraw_goesToThoseThatAreDrawnFirst() {
    type("/.");
    press(Key.Kind.ENTER);
    for (int i = 0; i < 100; i++) {
      type("n");
      Scene scene = scene();
      int box = scene.geometry.boxOfNode(state.selected());
      assertTrue(box >= 0 && !scene.geometry.isRun(box), selected());
    }
  }

  @Test
  void slash_invalidExpression_saysWhyAndGoesOn() {
    type("/a(");
    assertNull(state.search().pattern());
    assertEquals("Unclosed group", state.search().trouble());
    type("b)");
    assertNotNull(state.search().pattern());
    assertEquals("", state.search().trouble());
  }

  @Test
  void n_withoutAMatch_saysSo() {
    type("/nowhere");
    press(Key.Kind.ENTER);
    assertEquals("no match yet", state.message());
    press(Key.Kind.ESCAPE);
    type("n");
    assertEquals("no search; / begins one", state.message());
  }

  @Test
  void q_whileTyping_isALetter() {
    type("/q");
    assertEquals("q", state.search().text());
    assertTrue(effects.isEmpty());
    press(Key.CTRL_C);
    assertEquals(List.of(new Effect.Quit()), effects);
  }

  @Test
  void p_typeAheadAndEnter_filtersByPid() {
    type("p");
    assertEquals(List.of(new Effect.Rows(PickList.Of.PROCESSES)), effects);
    list(PickList.Of.PROCESSES);
    type("redis");
    press(Key.Kind.ENTER);
    assertNull(state.pick());
    assertEquals("pid 812", state.chosenShape().toString());
  }

  @Test
  void p_typedAndEnterBeforeTheRowsCome_filtersWhenTheyCome() {
    type("predis");
    press(Key.Kind.ENTER);
    assertTrue(state.message().startsWith("the list is still being made"), state.message());
    list(PickList.Of.PROCESSES);
    assertNull(state.pick());
    assertEquals("pid 812", state.chosenShape().toString());
  }

  @Test
  void p_typed_namesComeBeforeCommandLines() {
    type("p");
    list(PickList.Of.PROCESSES);
    type("d");
    assertEquals(
        List.of("redis-server", "systemd", "java", "postgres"),
        state.pick().matching().stream().map(PickRow::name).toList());
  }

  private void list(PickList.Of of) {
    Step step = PickKeys.listed(state, of, Reports.processes());
    state = step.state();
    effects = step.effects();
  }

  @Test
  void p_firstRow_liftsTheFilter() {
    state = state.withShape(Pictures.only(812));
    type("p");
    list(PickList.Of.PROCESSES);
    press(Key.Kind.ENTER);
    assertEquals(Shape.PLAIN, state.chosenShape());
  }

  @Test
  void c_enter_filtersByComm() {
    type("c");
    list(PickList.Of.COMMS);
    press(Key.Kind.DOWN, Key.Kind.DOWN, Key.Kind.ENTER);
    assertEquals("comm java", state.chosenShape().toString());
  }

  @Test
  void pickList_noMatch_saysSoAndEscapeCloses() {
    type("p");
    list(PickList.Of.PROCESSES);
    type("zzz");
    assertEquals("no match", state.message());
    press(Key.Kind.ENTER);
    assertEquals("no match", state.message());
    press(Key.Kind.ESCAPE);
    assertNull(state.pick());
    assertTrue(effects.isEmpty());
  }

  @Test
  void help_anyKey_closesItAndDoesNothingElse() {
    type("?");
    assertTrue(state.help());
    type("q");
    assertFalse(state.help());
    assertTrue(effects.isEmpty());
    press(Key.function(1));
    assertTrue(state.help());
  }

  @Test
  void e_enter_asksForWhatIsShown() {
    press(Key.Kind.DOWN, Key.Kind.ENTER);
    type("e");
    assertTrue(state.formats().open());
    press(Key.Kind.ENTER);
    long zoom = tree.find("redis-server").id;
    assertEquals(
        List.of(new Effect.Export(ExportFormat.FOLDED, StateSet.BUSY, zoom, null)), effects);
    assertFalse(state.formats().open());
  }

  @Test
  void e_typed_narrowsAndTheLastChoiceComesFirst() {
    type("epp");
    assertEquals(List.of(ExportFormat.PPROF), state.formats().matching());
    press(Key.Kind.BACKSPACE);
    press(Key.ctrl('u'));
    assertEquals(ExportFormat.values().length, state.formats().matching().size());
    type("html");
    press(Key.Kind.ENTER);
    assertEquals(ExportFormat.HTML, ((Effect.Export) effects.get(0)).format());
    type("e");
    press(Key.Kind.ENTER);
    assertEquals(ExportFormat.HTML, ((Effect.Export) effects.get(0)).format());
    type("e");
    press(Key.Kind.DOWN, Key.Kind.ENTER);
    assertEquals(ExportFormat.FOLDED, ((Effect.Export) effects.get(0)).format());
    assertEquals(ExportFormat.FOLDED, state.formats().last());
  }

  @Test
  void e_nothingMatchesOrEscape_exportsNothing() {
    type("exyz");
    assertEquals("no match", state.message());
    press(Key.Kind.ENTER);
    assertEquals(List.of(), effects);
    assertTrue(state.formats().open());
    press(Key.Kind.ESCAPE);
    assertFalse(state.formats().open());
  }

  @Test
  void e_inTheQualityView_onlyThePicture() {
    type("8e");
    assertEquals(List.of(ExportFormat.SVG, ExportFormat.TEXT), state.formats().matching());
  }

  @Test
  void digits_whileASearchIsTyped_areText() {
    type("/2");
    assertEquals(View.GRAPH, state.view());
    assertEquals("2", state.search().text());
  }

  @Test
  void help_thatDoesNotFit_isTurnedAndAnotherKeyClosesIt() {
    ViewState at = Pictures.state().withHelp(true);
    StringBuilder shown = new StringBuilder();
    int pages = 0;
    for (; at.help(); pages++) {
      assertEquals(pages, at.helpPage());
      Scene scene = Pictures.scene(tree, at, 40, 10);
      shown.append(String.join("", PictureText.rows(Painter.paint(scene))));
      assertFalse(Keys.press(scene, Key.of('x')).state().help());
      at = Keys.press(scene, Key.of(' ')).state();
    }
    assertTrue(pages > 2);
    for (Action action : Action.values()) {
      if (!ViewActions.of(View.GRAPH, Origin.LIVE).isOwn(action)) {
        continue;
      }
      assertTrue(shown.toString().contains(action.help().split(" ", 2)[0]), action.id());
    }
    at = Pictures.state().withHelpPage(1);
    Scene second = Pictures.scene(tree, at, 40, 10);
    assertEquals(0, Keys.press(second, Key.of(Key.Kind.PAGE_UP)).state().helpPage());
  }
}
