package flametop.sampler;

/**
 * The head that records of changed tasks, samples of the CPU clock and events share: a sight of a
 * task. A reader has one head, which the next record fills anew: a visitor takes the values that it
 * keeps.
 */
public final class Head {
  long time;
  int task;
  int stack;
  long run;
  long queued;
  long nvcsw;
  long nivcsw;
  int cpu;
  State state = State.RUN;
  WalkEnd why = WalkEnd.ROOT;
  boolean userMode;

  /** When the kernel looked, ns, CLOCK_MONOTONIC. */
  public long time() {
    return time;
  }

  public int task() {
    return task;
  }

  /** Stack id, or -1 for none. */
  public int stack() {
    return stack;
  }

  /** ns on a CPU since the task began. */
  public long run() {
    return run;
  }

  /** ns waiting for a CPU since the task began. */
  public long queued() {
    return queued;
  }

  /** Voluntary switches since the task began. */
  public long nvcsw() {
    return nvcsw;
  }

  public int cpu() {
    return cpu;
  }

  public State state() {
    return state;
  }

  /** Why there is no stack, or why the stack is short. */
  public WalkEnd why() {
    return why;
  }

  /** Whether the CPU ran code of the user: of samples and events. */
  public boolean userMode() {
    return userMode;
  }

  /** The head as the text form of the stream has it. */
  @Override
  public String toString() {
    return String.format(
        "time=%s task=%s stack=%s run=%s wait=%s nvcsw=%s nivcsw=%s cpu=%s state=%s why=%s",
        Long.toUnsignedString(time),
        Integer.toUnsignedString(task),
        stack == -1 ? "none" : Integer.toUnsignedString(stack),
        Long.toUnsignedString(run),
        Long.toUnsignedString(queued),
        Long.toUnsignedString(nvcsw),
        Long.toUnsignedString(nivcsw),
        Integer.toUnsignedString(cpu),
        state.number(),
        why.number());
  }
}
