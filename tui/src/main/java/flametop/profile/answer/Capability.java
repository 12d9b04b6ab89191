package flametop.profile.answer;

/**
 * The things that a source of pictures may have beside stacks and their weights. Keys, help, header
 * and panels follow: a key whose action needs a capability that the source lacks answers with a
 * sentence, and nothing offers the action.
 */
public enum Capability {
  /** The pictures go on by themselves, and can be held. */
  PRESENT("a file holds still by itself: it is painted when a key asks"),
  /** Stacks have a time, so that windows, ranges and a new start mean something. */
  TIME("folded stacks do not say their time; a recorded stream does"),
  /** A picture can be held, and later ones compared with it. */
  BASELINE("two files are compared by flametop diff"),
  /** Time is told apart by state. */
  STATES("this file does not say in which states its threads were"),
  /** Stacks belong to processes with numbers and comms. */
  PROCESSES("this file does not say the numbers of processes; c lists the outermost frames"),
  /** Stacks belong to threads. */
  THREADS("this file does not say its threads"),
  /** Processes belong to control groups. */
  CGROUPS("this file does not say the control groups of its processes"),
  /** There are tasks, with the present state of each. */
  TASKS("folded stacks say nothing of tasks; a recorded stream does"),
  /** CPUs are measured, idle states among them. */
  CPUS("folded stacks say nothing of CPUs; a recorded stream does"),
  /** Samples are counted by how good they are. */
  QUALITY("folded stacks say nothing of their quality; a recorded stream does"),
  /** There are several measures, of which one is shown. */
  MEASURES("these stacks are of one measure"),
  /** There may be sources of events, each with a measure of its own. */
  EVENTS("folded stacks are of one measure; a recorded stream has its sources of events"),
  /** Sources of events can be switched on and off. */
  SWITCHES("sources of events are switched only where this machine is sampled"),
  /** Frames have lines of source code. */
  SOURCE_LINES("folded stacks have no source lines; record --format flametop --lines has"),
  /** Rates of samples can be chosen. */
  SAMPLING("nothing is sampled here"),
  /** Stacks come from files, of which there may be several. */
  FILES("no file of stacks is open");

  private final String lacking;

  Capability(String lacking) {
    this.lacking = lacking;
  }

  /** The answer to a key that needs it where a source lacks it. */
  public String lacking() {
    return lacking;
  }
}
