package flametop.view.base;

import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Words for sets of states. */
public final class StateNames {
  private static final Map<StateSet, String> NAMES =
      Map.of(
          StateSet.BUSY, "busy",
          StateSet.ON_CPU, "on cpu",
          StateSet.OFF_CPU, "off cpu",
          StateSet.ALL, "all");

  private StateNames() {}

  /** One word for a set. */
  public static String of(StateSet states) {
    return NAMES.getOrDefault(states, "some");
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
