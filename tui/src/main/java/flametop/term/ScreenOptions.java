package flametop.term;

import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.sampler.Budget;
import flametop.view.base.Origin;
import flametop.view.state.Keymap;
import java.util.List;

/**
 * The decisions of the command line about the screen.
 *
 * @param origin where the stacks come from
 * @param host name of the machine that is sampled, or that recorded the stream
 * @param target the sampled tasks, in the words of the header: {@code all tasks}, {@code pid 812},
 *     {@code replay of FILE}
 * @param filter from {@code -c} and {@code -u}; the profile has it already
 * @param states shown first
 * @param passHz rate of passes at the start
 * @param cpuHz rate of the CPU clock at the start
 * @param refreshNanos time between two pictures; 0: a quarter of a second, half of one over ssh
 * @param budget the share of one CPU that flametop may take; infinite: no limit
 * @param kept the settings that the budget must not change
 * @param look theme and characters
 * @param preferences settings of the user for every screen
 */
public record ScreenOptions(
    Origin origin,
    String host,
    String target,
    Shape filter,
    StateSet states,
    int passHz,
    int cpuHz,
    long refreshNanos,
    double budget,
    Budget.Kept kept,
    Look look,
    Preferences preferences) {
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
}
