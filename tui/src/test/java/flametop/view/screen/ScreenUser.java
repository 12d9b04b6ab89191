package flametop.view.screen;

import flametop.view.base.Key;
import flametop.view.base.Mouse;
import flametop.view.layout.Scene;
import flametop.view.state.Effect;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;

/** A user in front of a screen: presses keys, moves the mouse, and has the state after each. */
public abstract class ScreenUser {
  protected ViewState state = Pictures.state();

  /** The requests of the last key or press of the mouse. */
  protected List<Effect> effects = List.of();

  /** The picture of the state, with the answers that a source gives to it. */
  protected abstract Scene scene();

  protected final void press(Key key) {
    take(Keys.press(scene(), key), true);
  }

  protected final void press(Key.Kind... kinds) {
    for (Key.Kind kind : kinds) {
      press(Key.of(kind));
    }
  }

  protected final void type(String text) {
    text.chars().forEach(c -> press(Key.of(c)));
  }

  protected final void mouse(Mouse.Kind kind, int x, int y) {
    take(Keys.mouse(scene(), new Mouse(kind, x, y)), kind != Mouse.Kind.RELEASE);
  }

  private void take(Step step, boolean withEffects) {
    state = step.state();
    effects = withEffects ? step.effects() : effects;
  }
}
