package flametop.view.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import flametop.view.layout.Scene;
import flametop.view.screen.Keys;
import flametop.view.screen.Pictures;
import flametop.view.screen.Tree;
import flametop.view.screen.Trees;
import flametop.view.state.Questions;
import flametop.view.state.ViewState;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ColouringTest {
  private final Tree tree = Trees.server();
  private ViewState state = Pictures.state().withStates(StateSet.ALL);

  private GraphSlice slice() {
    return Pictures.snapshot(tree, state, 160).graph();
  }

  private static int index(GraphSlice slice, String name) {
    return Arrays.asList(slice.name()).indexOf(name);
  }

  @Test
  void key_pressed_asksForStatesAndBack() {
    Scene scene = Scene.of(Snapshot.OPENING, state, 80, 24, Pictures.options());
    assertFalse(Questions.picture(state, 80).byState());
    ViewState next = Keys.press(scene, Key.of('C')).state();
    assertTrue(Questions.picture(next, 80).byState());
    assertEquals("colours tell the state", next.message());
    Scene after = Scene.of(Snapshot.OPENING, next, 80, 24, Pictures.options());
    assertEquals(Colouring.KIND, Keys.press(after, Key.of('C')).state().colouring());
  }

  @Test
  void paint_byState_isThatOfMostTimeInTheShadeOfTheName() {
    state = state.withColouring(Colouring.STATE);
    GraphSlice slice = slice();
    int node = index(slice, "jbd2_log_wait_commit");
    int paint = Colouring.STATE.paint(slice, node);
    assertEquals(Role.DISK, Paint.role(paint));
    assertEquals(Paint.shade("jbd2_log_wait_commit"), Paint.shade(paint));
    assertEquals(Role.ASLEEP, Paint.role(Colouring.STATE.paint(slice, index(slice, "schedule"))));
  }

  @Test
  void paint_byStateBeforeStatesAreThere_isTheKind() {
    GraphSlice slice = slice();
    int node = index(slice, "schedule");
    assertEquals(Role.KERNEL, Paint.role(Colouring.STATE.paint(slice, node)));
    assertEquals(Colouring.KIND.paint(slice, node), Colouring.STATE.paint(slice, node));
  }
}
