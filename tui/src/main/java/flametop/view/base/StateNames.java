package flametop.view.base;

import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.List;

/** Words for sets of states. */
public final class StateNames {
  private StateNames() {}

  /** One word for a set. */
  public static String of(StateSet states) {
    if (states.equals(StateSet.BUSY)) {
      return "busy";
    }
    if (states.equals(StateSet.ON_CPU)) {
      return "on cpu";
    }
    if (states.equals(StateSet.OFF_CPU)) {
      return "off cpu";
    }
    return states.equals(StateSet.ALL) ? "all" : "some";
  }

  /** The states that make up a set. */
  public static String detail(StateSet states) {
    if (states.equals(StateSet.ALL)) {
      return "every state";
    }
    if (states.equals(StateSet.OFF_CPU)) {
      return "queued+disk+asleep";
    }
    List<String> names = new ArrayList<>();
    for (State state : State.values()) {
      if (states.contains(state)) {
        names.add(state.label());
      }
    }
    return String.join("+", names);
  }
}
