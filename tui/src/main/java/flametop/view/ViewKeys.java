package flametop.view;

import flametop.profile.answer.PageQuery;
import java.util.List;

/** What a view can do, and what it asks for. */
interface ViewKeys {
  /** Its own actions; those of {@link Keys#EVERYWHERE} come with every view. */
  Action[] actions();

  /**
   * Actions that all or other views have and that mean nothing here: {@link #act} answers why, and
   * the help does not have them.
   */
  default Action[] refused() {
    return new Action[0];
  }

  /** What the line of keys shows, the most used first; neighbours with one label share it. */
  Action[] keyLine(ViewState s);

  /**
   * Does one of its own actions.
   *
   * @return null for an action that is none of them
   */
  Keys.Step act(Scene scene, ViewState s, Action action);

  /**
   * Follows the mouse between the header and the line of keys. A drag goes on to the view where it
   * began, wherever the mouse is.
   *
   * @return null for what means nothing there
   */
  default Keys.Step mouse(Scene scene, ViewState s, Mouse mouse) {
    return null;
  }

  /** Names that a search is completed from, the most telling first. */
  default List<String> namesInSight(Scene scene) {
    return SearchKeys.namesInSight(scene);
  }

  /**
   * A search was typed to its end.
   *
   * @param kept the state with it
   */
  default Keys.Step searched(Scene scene, ViewState kept) {
    return GraphKeys.toFirstMatch(scene, kept);
  }

  /**
   * What it shows beside the snapshot; null if nothing.
   *
   * @param columns width in cells
   */
  default PageQuery page(ViewState s, int columns) {
    return null;
  }

  /** Goes on to the next (1) or previous (-1) match of the search. */
  default Keys.Step match(Scene scene, ViewState s, int direction) {
    return GraphKeys.toMatch(scene, s, direction);
  }
}
