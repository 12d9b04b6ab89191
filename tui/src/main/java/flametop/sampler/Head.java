package flametop.sampler;

/**
 * The head that records of changed tasks, samples of the CPU clock and events share: a sight of a
 * task.
 *
 * @param time ns, CLOCK_MONOTONIC: when the kernel looked
 * @param task task id
 * @param stack stack id, or -1 for none
 * @param run ns on a CPU since the task began
 * @param queued ns waiting for a CPU since the task began
 * @param nvcsw voluntary switches since the task began
 * @param nivcsw involuntary switches since the task began
 * @param why why there is no stack, or why the stack is short
 * @param userMode the CPU ran code of the user; always false for changed tasks
 */
public record Head(
    long time,
    int task,
    int stack,
    long run,
    long queued,
    long nvcsw,
    long nivcsw,
    int cpu,
    State state,
    WalkEnd why,
    boolean userMode) {}
