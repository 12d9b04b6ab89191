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
  /** Stacks of a file, of which the file may say whose they are. */
  FILE(
      EnumSet.of(
          Capability.FILES,
          Capability.PROCESSES,
          Capability.THREADS,
          Capability.CGROUPS,
          Capability.STATES,
          Capability.MEASURES));

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
