package flametop.view.keys;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Capability;
import flametop.profile.answer.Snapshot;
import flametop.view.base.Action;
import flametop.view.base.Key;
import flametop.view.base.Origin;
import flametop.view.base.View;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Pictures;
import flametop.view.state.PaintOptions;
import flametop.view.state.ViewActions;
import flametop.view.state.ViewState;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class CapabilityTest {
  private static PaintOptions of(Origin origin) {
    PaintOptions live = Pictures.options();
    return new PaintOptions(
        live.host(),
        live.target(),
        origin,
        live.ascii(),
        live.plain(),
        live.users(),
        live.keymap(),
        live.notices());
  }

  @Test
  void needs_eachCapability_someAction() {
    Set<Capability> needed = EnumSet.noneOf(Capability.class);
    for (Action action : Action.values()) {
      if (action.needs() != null) {
        needed.add(action.needs());
      }
    }
    assertEquals(EnumSet.allOf(Capability.class), needed);
  }

  @Test
  void actions_ofASourceThatLacksWhatTheyNeed_areOfferedNowhere() {
    for (View view : View.values()) {
      for (Origin origin : Origin.values()) {
        ViewActions actions = ViewActions.of(view, origin);
        for (Action action : Action.values()) {
          assertFalse(
              view.isOf(origin) && actions.has(action) && !origin.has(action),
              origin + " " + view + " " + action);
        }
        List<Action> line = actions.keyLine(Pictures.state().withView(view));
        assertTrue(line.stream().allMatch(origin::has), origin + " " + view);
      }
    }
  }

  @Test
  void keys_ofAFileThatLacksWhatTheyNeed_sayWhat() {
    ViewState state = Pictures.state();
    Scene scene = Scene.of(Snapshot.OPENING, state, 100, 30, of(Origin.FILE));
    int answered = 0;
    for (Action action : Action.values()) {
      List<Key> keys = Pictures.options().keymap().keys(action);
      Action does = scene.options.keymap().action(View.GRAPH, Origin.FILE, keys.get(0));
      if (!Origin.FILE.has(action) && does == action && action.needs() != Capability.PROCESSES) {
        ViewState next = Keys.press(scene, keys.get(0)).state();
        assertEquals(action.needs().lacking(), next.message(), action.id());
        answered++;
      }
    }
    assertTrue(answered > 15, answered + " keys");
  }
}
