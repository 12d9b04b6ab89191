package flametop.cli;

import flametop.cli.settings.Settings;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Which time is shown. */
final class StatesOptions {
  @Option(
      names = "--states",
      order = 10,
      paramLabel = "STATES",
      converter = States.class,
      description = {
        "busy, on, off, all, or a list: run,queued,S,D,T,Z,P",
        "The states of threads whose time is counted: busy (RUN, RUNQ, D), on (RUN), off (all but RUN), all, or a list of run,queued,S,D,T,Z,P. The default is busy; with -p, -t or --cgroup it is all."
      })
  private @Nullable StateSet states;

  /** Task states as the command line names them. */
  static final class States implements ITypeConverter<StateSet> {
    @Override
    public StateSet convert(String text) {
      return switch (text) {
        case "busy" -> StateSet.BUSY;
        case "on" -> StateSet.ON_CPU;
        case "off" -> StateSet.OFF_CPU;
        case "all" -> StateSet.ALL;
        default -> {
          int bits = 0;
          for (String word : text.split(",", -1)) {
            State state = state(word.toLowerCase(Locale.ROOT));
            if (state == null) {
              throw new TypeConversionException(
                  "'"
                      + text
                      + "' is none of busy, on, off, all, nor a list of run, queued, S, D, T, Z, P");
            }
            bits |= StateSet.of(state).bits();
          }
          yield new StateSet(bits);
        }
      };
    }

    private static @Nullable State state(String word) {
      return switch (word) {
        case "run", "r" -> State.RUN;
        case "queued", "runq" -> State.QUEUED;
        case "asleep", "s" -> State.SLEEP;
        case "disk", "d" -> State.DISK;
        case "stopped", "t" -> State.STOPPED;
        case "zombie", "z" -> State.ZOMBIE;
        case "parked", "p" -> State.PARKED;
        case "other" -> State.OTHER;
        default -> null;
      };
    }
  }

  boolean given() {
    return states != null;
  }

  /**
   * The states that were given; else all states for a process or thread, and the busy states for a
   * whole host.
   */
  StateSet shown(boolean wholeHost) {
    return states != null ? states : wholeHost ? StateSet.BUSY : StateSet.ALL;
  }

  /** The same, where the settings may have states too. */
  StateSet shown(boolean wholeHost, Settings settings) {
    return settings.given(states, "states", new States(), shown(wholeHost));
  }
}
