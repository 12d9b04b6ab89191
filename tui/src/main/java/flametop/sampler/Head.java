package flametop.sampler;

/**
 * The head that records of changed tasks, samples of the CPU clock and events share: a sight of a
 * task. A reader has one head, which the next record fills anew: a visitor takes the values that it
 * keeps.
 */
public final class Head {
  /** When the kernel looked, ns, CLOCK_MONOTONIC. */
  public long time;

  public int task;

  /** Stack id, or -1 for none. */
  public int stack;

  /** ns on a CPU since the task began. */
  public long run;

  /** ns waiting for a CPU since the task began. */
  public long queued;

  /** Voluntary switches since the task began. */
  public long nvcsw;

  /** Involuntary switches since the task began. */
  public long nivcsw;

  public int cpu;
  public State state = State.RUN;

  /** Why there is no stack, or why the stack is short. */
  public WalkEnd why = WalkEnd.ROOT;

  /** Whether the CPU ran code of the user: of samples and events. */
  public boolean userMode;
}
