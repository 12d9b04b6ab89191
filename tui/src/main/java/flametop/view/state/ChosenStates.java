package flametop.view.state;

import flametop.profile.answer.StateSet;
import org.jspecify.annotations.Nullable;

/**
 * The states that the user chose. Immutable.
 *
 * @param now the states of the measure that is shown
 * @param ofTime the states to show of time again; null while time is shown
 */
record ChosenStates(StateSet now, @Nullable StateSet ofTime) {
  ChosenStates with(StateSet value) {
    return new ChosenStates(value, ofTime);
  }

  /**
   * The same of the other kind of measure. Events have no states, so that none may be left out; the
   * states of time wait meanwhile.
   */
  ChosenStates ofEvents(boolean events) {
    if (events == (ofTime != null)) {
      return this;
    }
    return new ChosenStates(ofTime == null ? StateSet.ALL : ofTime, events ? now : null);
  }
}
