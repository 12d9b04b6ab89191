package flametop.cli;

import flametop.profile.answer.StateSet;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

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
}
