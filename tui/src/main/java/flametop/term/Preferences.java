package flametop.term;

import flametop.view.state.Keymap;
import java.util.List;

/**
 * What the user has set for every screen.
 *
 * @param keymap which key does what
 * @param mouse the screen takes the mouse
 * @param notices what is wrong with the settings, a line each
 * @param history the searches of earlier screens
 */
public record Preferences(
    Keymap keymap, boolean mouse, List<String> notices, SearchHistory history) {
  /** Nothing is set. */
  public static final Preferences NONE =
      new Preferences(Keymap.DEFAULT, true, List.of(), SearchHistory.NONE);
}
