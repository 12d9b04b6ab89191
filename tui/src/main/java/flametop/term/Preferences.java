package flametop.term;

import flametop.view.state.Keymap;
import java.util.List;

/**
 * The settings of the user for every screen.
 *
 * @param keymap which key does what
 * @param mouse whether the screen takes the mouse
 * @param notices faults in the settings, a line each
 * @param history the searches of earlier screens
 */
public record Preferences(
    Keymap keymap, boolean mouse, List<String> notices, SearchHistory history) {}
