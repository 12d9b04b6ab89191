package flametop.view.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.Copy;
import flametop.profile.answer.Snapshot;
import flametop.view.base.Action;
import flametop.view.base.CellGrid;
import flametop.view.base.Key;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.FilePictures;
import flametop.view.screen.Keys;
import flametop.view.screen.Painter;
import flametop.view.screen.PictureText;
import flametop.view.screen.Pictures;
import flametop.view.screen.ViewPictures;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class KeymapTest {
  @Test
  void defaults_everyView_haveNoConflict() {
    assertEquals(List.of(), Keymap.DEFAULT.conflicts());
  }

  /** Who comes from htop presses them for what they do there: they do that, or nothing. */
  @Test
  void defaults_functionKeys_areFreeButForTheHelp() {
    for (View view : View.values()) {
      for (Origin origin : List.of(Origin.LIVE, Origin.RECORDING, Origin.FILE)) {
        assertEquals(Action.HELP, Keymap.DEFAULT.action(view, origin, Key.function(1)));
        for (int number = 2; number <= 10; number++) {
          assertNull(Keymap.DEFAULT.action(view, origin, Key.function(number)), "F" + number);
        }
      }
    }
  }

  @Test
  void actions_all_haveAnIdOfTheirOwnAndAreInAView() {
    Set<String> ids = new HashSet<>();
    for (Action action : Action.values()) {
      assertTrue(action.id().matches("[a-z]+(-[a-z]+)*"), action.id());
      assertTrue(ids.add(action.id()), action.id());
      boolean somewhere = false;
      for (View view : View.values()) {
        for (Origin origin : Origin.values()) {
          somewhere |= ViewActions.of(view, origin).has(action);
        }
      }
      assertTrue(somewhere, action.id());
      for (String key : action.keys().split(" ")) {
        assertNotNull(Key.parse(key), action.id() + " " + key);
      }
    }
  }

  @Test
  void act_everyActionOfEveryView_isDone() {
    for (View view : View.values()) {
      ViewState state = Pictures.state().withView(view);
      Scene scene = Scene.of(Snapshot.OPENING, state, 80, 24, Pictures.options());
      for (Action action : Action.values()) {
        if (ViewActions.of(view, Origin.LIVE).has(action)) {
          for (Key key : Keymap.DEFAULT.keys(action)) {
            String said = Keys.press(scene, key).state().message();
            assertFalse(said.contains("does nothing"), view + " " + action + ": " + said);
          }
        }
      }
    }
  }

  @Test
  void press_everyKeyInEveryView_hasAnAnswer() {
    List<Scene> scenes = new ArrayList<>();
    for (View view : View.values()) {
      ViewState first = Pictures.state().withView(view);
      scenes.add(Scene.of(Snapshot.OPENING, first, 120, 34, Pictures.options()));
      scenes.add(ViewPictures.scene(view, 120, 34, Pictures.options()));
    }
    scenes.add(FilePictures.scene(120, 34));
    for (Scene scene : scenes) {
      CellGrid before = Painter.paint(scene);
      for (Key key : everyKey()) {
        Step step = Keys.press(scene, key);
        ViewState state = step.state();
        Scene after = Scene.of(scene.snapshot, scene.page, state, 120, 34, scene.options);
        assertTrue(
            !step.effects().isEmpty()
                || !state.message().isEmpty()
                || state.awaited() != null
                || !same(Painter.paint(after), before),
            scene.state.view() + (scene.snapshot.isOpening() ? " at first: " : ": ") + key.name());
      }
    }
  }

  private static List<Key> everyKey() {
    List<Key> keys = new ArrayList<>();
    for (int c = ' '; c <= '~'; c++) {
      keys.add(Key.of(c));
    }
    keys.add(Key.of('ß'));
    for (char c = 'a'; c <= 'z'; c++) {
      keys.add(Key.ctrl(c));
    }
    for (int n = 1; n <= 12; n++) {
      keys.add(Key.function(n));
    }
    for (Key.Kind kind : Key.Kind.values()) {
      if (kind != Key.Kind.CHARACTER && kind != Key.Kind.CTRL && kind != Key.Kind.FUNCTION) {
        keys.add(Key.of(kind));
      }
    }
    return keys;
  }

  private static boolean same(CellGrid one, CellGrid other) {
    for (int y = 0; y < one.rows(); y++) {
      for (int x = 0; x < one.columns(); x++) {
        if (!one.same(other, x, y)) {
          return false;
        }
      }
    }
    return true;
  }

  @Test
  void keyLine_everyView_hasActionsOfThatViewOnly() {
    for (View view : View.values()) {
      for (Origin origin : Origin.values()) {
        ViewActions keys = ViewActions.of(view, origin);
        for (Action action : keys.keyLine(Pictures.state().withView(view))) {
          assertTrue(keys.has(action), origin + " " + view + " " + action);
        }
      }
    }
  }

  @Test
  void with_otherKeys_theOldOnesDoNothing() {
    Keymap keymap = Keymap.DEFAULT.with(Action.FREEZE, List.of(Key.of('v'), Key.function(5)));
    assertEquals(Action.FREEZE, keymap.action(View.GRAPH, Origin.LIVE, Key.function(5)));
    assertEquals(Action.FREEZE, keymap.action(View.QUALITY, Origin.LIVE, Key.of('v')));
    assertNull(keymap.action(View.GRAPH, Origin.LIVE, Key.of(' ')));
    assertEquals(List.of(), keymap.conflicts());
  }

  @Test
  void with_aKeyOfADefault_isTakenFromItWhereAViewHasBoth() {
    Keymap keymap = Keymap.DEFAULT.with(Action.ROOT, List.of(Key.of('e'), Key.of('h')));
    assertEquals(List.of(), keymap.conflicts());
    assertEquals(List.of(), keymap.keys(Action.EXPORT));
    assertEquals(List.of(Key.of(Key.Kind.LEFT)), keymap.keys(Action.LEFT));
    assertEquals(Action.ROOT, keymap.action(View.GRAPH, Origin.LIVE, Key.of('e')));
    assertNull(keymap.action(View.CPUS, Origin.LIVE, Key.of('e')));
    // No view has both.
    keymap = Keymap.DEFAULT.with(Action.ZOOM, List.of(Key.of('b'), Key.of(Key.Kind.ENTER)));
    assertEquals(Keymap.DEFAULT.keys(Action.BY_MODULE), keymap.keys(Action.BY_MODULE));
    assertEquals(Keymap.DEFAULT.keys(Action.MARK), keymap.keys(Action.MARK));
    assertEquals(List.of(), keymap.keys(Action.COMPARE));
  }

  @Test
  void with_everyKeyOfEveryAction_neverFailsAtADefault() {
    for (Action action : Action.values()) {
      for (Action other : Action.values()) {
        Keymap keymap = Keymap.DEFAULT.with(action, Keymap.DEFAULT.keys(other));
        assertEquals(List.of(), keymap.conflicts(), action + " " + other);
      }
    }
  }

  @Test
  void with_aKeyForTwo_isAConflictInTheViewsThatHaveBoth() {
    Keymap keymap = Keymap.DEFAULT.with(Action.ROOT, List.of(Key.of('e')));
    keymap = keymap.with(Action.EXPORT, List.of(Key.of('e')));
    assertEquals(
        List.of(
            new Keymap.Conflict(View.GRAPH, Key.of('e'), Action.ROOT, Action.EXPORT),
            new Keymap.Conflict(View.CALLERS, Key.of('e'), Action.ROOT, Action.EXPORT),
            new Keymap.Conflict(View.SANDWICH, Key.of('e'), Action.ROOT, Action.EXPORT)),
        keymap.conflicts());
    keymap = keymap.withDefault(Action.ROOT);
    assertEquals(List.of(), keymap.conflicts());
    assertEquals(Keymap.DEFAULT.keys(Action.ROOT), keymap.keys(Action.ROOT));
  }

  @Test
  void help_whatHasNoKey_isShownWithTheSettingThatGivesOne() {
    Keymap keymap = Keymap.DEFAULT.with(Action.REPAINT, List.of(Key.of('z'), Key.of('n')));
    PaintOptions options = Copy.of(Pictures.options(), "keymap", keymap);
    ViewState state = Pictures.state().withHelp(true);
    String text = PictureText.of(Scene.of(Snapshot.OPENING, state, 200, 60, options));
    assertTrue(text.contains("none       start anew (key.restart)"), text);
    assertTrue(text.contains("none       next, previous match  "), text);
    assertTrue(text.contains("N          next, previous match"), text);
  }

  @Test
  void with_quitOnAnotherKey_ctrlCStillQuits() {
    Keymap keymap = Keymap.DEFAULT.with(Action.QUIT, List.of(Key.of('v')));
    assertEquals(Action.QUIT, keymap.action(View.GRAPH, Origin.LIVE, Key.CTRL_C));
    assertNull(keymap.action(View.GRAPH, Origin.LIVE, Key.of('q')));
  }

  @Test
  void parse_everyName_isTheKeyThatHasIt() {
    for (Key.Kind kind : Key.Kind.values()) {
      Key key =
          switch (kind) {
            case CHARACTER -> Key.of('ß');
            case CTRL -> Key.ctrl('x');
            case FUNCTION -> Key.function(12);
            default -> Key.of(kind);
          };
      assertEquals(kind == Key.Kind.OTHER ? null : key, Key.parse(key.name()));
    }
    assertEquals(Key.of(' '), Key.parse("space"));
    assertEquals(Key.of(Key.Kind.PAGE_UP), Key.parse("PgUp"));
    for (String none : new String[] {"", " ", "f0", "f13", "f1x", "ctrl-", "ctrl-ä", "hyper"}) {
      assertNull(Key.parse(none), none);
    }
  }
}
