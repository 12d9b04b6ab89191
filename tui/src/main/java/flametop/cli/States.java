package flametop.cli;

import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Task states as the command line names them. */
final class States implements ITypeConverter<StateSet> {
  private static final Map<String, StateSet> SETS =
      Map.of(
          "busy",
          StateSet.BUSY,
          "on",
          StateSet.ON_CPU,
          "off",
          StateSet.OFF_CPU,
          "all",
          StateSet.ALL);

  private static final Map<String, State> STATES =
      Map.ofEntries(
          Map.entry("run", State.RUN),
          Map.entry("r", State.RUN),
          Map.entry("queued", State.QUEUED),
          Map.entry("runq", State.QUEUED),
          Map.entry("asleep", State.SLEEP),
          Map.entry("s", State.SLEEP),
          Map.entry("disk", State.DISK),
          Map.entry("d", State.DISK),
          Map.entry("stopped", State.STOPPED),
          Map.entry("t", State.STOPPED),
          Map.entry("zombie", State.ZOMBIE),
          Map.entry("z", State.ZOMBIE),
          Map.entry("parked", State.PARKED),
          Map.entry("p", State.PARKED),
          Map.entry("other", State.OTHER));

  @Override
  public StateSet convert(String text) {
    StateSet set = SETS.get(text);
    if (set != null) {
      return set;
    }
    int bits = 0;
    for (String word : text.split(",", -1)) {
      State state = STATES.get(word.toLowerCase(Locale.ROOT));
      if (state == null) {
        throw new TypeConversionException(
            "'"
                + text
                + "' is none of busy, on, off, all, nor a list of run, queued, S, D, T, Z, P");
      }
      bits |= StateSet.of(state).bits();
    }
    return new StateSet(bits);
  }
}
