package flametop.term;

import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.sampler.Budget;
import flametop.view.base.Origin;

/**
 * What the command line decides about the screen.
 *
 * @param origin where what is shown comes from
 * @param host name of this machine, for the header before the session is there
 * @param target what will be sampled, like {@link LiveSession#target()}
 * @param filter from {@code -c} and {@code -u}; the profile has it already
 * @param states shown first
 * @param passHz rate of passes at the start
 * @param cpuHz rate of the CPU clock at the start
 * @param refreshNanos time between two pictures; 0: a quarter of a second, half of one over ssh
 * @param budget share of one CPU that flametop is held to; infinite: none
 * @param kept what the budget leaves as it is
 * @param look theme and characters
 * @param preferences what the user has set for every screen
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
    Preferences preferences) {}
