package flametop.view.keys;

import flametop.view.base.Action;
import flametop.view.base.Mouse;
import flametop.view.layout.Scene;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;

/** What keys and mouse do in a view; {@code ViewActions} says which actions it has. */
public interface ViewKeys {
  /**
   * Does one of its own actions.
   *
   * @return null for an action that is none of them
   */
  Step act(Scene scene, ViewState s, Action action);

  /**
   * Follows the mouse between the header and the line of keys. A drag goes on to the view where it
   * began, wherever the mouse is.
   *
   * @return null for what means nothing there
   */
  default Step mouse(Scene scene, ViewState s, Mouse mouse) {
    return null;
  }

  /** Names that a search is completed from, the most telling first. */
  default List<String> namesInSight(Scene scene) {
    return SearchKeys.namesInSight(scene);
  }

  /**
   * A search was typed to its end: the selection goes to a match, unless it is at one.
   *
   * @param kept the state with the search
   */
  default Step searched(Scene scene, ViewState kept) {
    return GraphKeys.isAtMatch(scene)
        ? Step.answer(kept, "the selected one matches; n goes on")
        : match(scene, kept, 1);
  }

  /** Goes on to the next (1) or previous (-1) match of the search. */
  default Step match(Scene scene, ViewState s, int direction) {
    return GraphKeys.toMatch(scene, s, direction);
  }
}
