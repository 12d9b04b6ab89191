package flametop.view.state;

import flametop.view.base.Key;
import java.util.List;

/**
 * The consequence of a key or a click.
 *
 * @param state the next state
 * @param effects requests to the world, in order
 */
public record Step(ViewState state, List<Effect> effects) {
  /** A step to a state, with requests to the world. */
  public static Step to(ViewState state, Effect... effects) {
    return new Step(state, List.of(effects));
  }

  /** A step that answers a key with a sentence. */
  public static Step answer(ViewState state, String text) {
    return to(state.withMessage(text));
  }

  /** The answer to a key that does nothing. */
  public static Step nothing(ViewState state, Key key) {
    return answer(state, key.name() + " does nothing here; ? lists the keys");
  }
}
