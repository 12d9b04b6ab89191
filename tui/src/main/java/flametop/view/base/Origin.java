package flametop.view.base;

import flametop.profile.answer.Capability;
import java.util.EnumSet;
import java.util.Set;

/** Where the stacks of a screen come from, and what else that source knows. */
public enum Origin {
  /** A running machine. */
  LIVE(EnumSet.complementOf(EnumSet.of(Capability.FILES))),
  /** A recorded stream that is replayed. */
  RECORDING(EnumSet.complementOf(EnumSet.of(Capability.FILES, Capability.SWITCHES))),
  /** Folded stacks: a tree, and nothing else. */
  FILE(EnumSet.of(Capability.FILES));

  @SuppressWarnings("ImmutableEnumChecker") // a copy that nobody can change
  private final Set<Capability> capabilities;

  Origin(Set<Capability> capabilities) {
    this.capabilities = Set.copyOf(capabilities);
  }

  public boolean has(Capability capability) {
    return capabilities.contains(capability);
  }

  /** Whether the source has what an action needs. */
  public boolean has(Action action) {
    return action.needs() == null || has(action.needs());
  }
}
