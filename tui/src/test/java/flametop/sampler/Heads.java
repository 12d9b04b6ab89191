package flametop.sampler;

/** Heads of records that no stream has. */
public final class Heads {
  private Heads() {}

  /** The sight of a task whose stack is whole, or that has none. */
  public static Head of(
      long time, int task, int stack, long run, long queued, long nvcsw, int cpu, State state) {
    Head head = new Head();
    head.time = time;
    head.task = task;
    head.stack = stack;
    head.run = run;
    head.queued = queued;
    head.nvcsw = nvcsw;
    head.cpu = cpu;
    head.state = state;
    head.userMode = state == State.RUN;
    return head;
  }
}
