package flametop.view.keys;

import flametop.view.base.Action;
import flametop.view.base.Mouse;
import flametop.view.layout.Scene;
import flametop.view.state.Step;
import flametop.view.state.ViewState;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keys and mouse of a view. {@code ViewActions} says which actions the view has. */
public interface ViewKeys {
  /**
   * Does an action of the view.
   *
   * @return null for an action that is not the view's own
   */
  @Nullable Step act(Scene scene, ViewState s, Action action);

  /**
   * Follows the mouse between the header and the line of keys. The view in which a drag began gets
   * the whole drag, wherever the mouse is.
   *
   * @return null for an event without a meaning there
   */
  default @Nullable Step mouse(Scene scene, ViewState s, Mouse mouse) {
    return null;
  }

  /** Names that complete a search, the most telling first. */
  default List<String> namesInSight(Scene scene) {
    return SearchKeys.namesInSight(scene);
  }

  /**
   * Ends the typing of a search: the selection goes to a match, unless it is at one already.
   *
   * @param kept the state with the search
   */
  default Step searched(Scene scene, ViewState kept) {
    return GraphKeys.isAtMatch(scene)
        ? Step.answer(kept, "the selected frame matches; n goes on")
        : match(scene, kept, 1);
  }

  /** Goes on to the next (1) or previous (-1) match of the search. */
  default Step match(Scene scene, ViewState s, int direction) {
    return GraphKeys.toMatch(scene, s, direction);
  }
}
