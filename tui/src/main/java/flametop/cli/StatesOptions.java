package flametop.cli;

import flametop.profile.answer.StateSet;
import picocli.CommandLine.Option;

/** Which time is shown. */
final class StatesOptions {
  @Option(
      names = "--states",
      order = 10,
      paramLabel = "STATES",
      converter = States.class,
      description = "busy, on, off, all, or a list: run,queued,S,D,T,Z,P")
  private StateSet states;

  boolean given() {
    return states != null;
  }

  /** As given; else all of a process or thread, and of a whole host what is busy. */
  StateSet shown(boolean wholeHost) {
    return given() ? states : wholeHost ? StateSet.BUSY : StateSet.ALL;
  }
}
