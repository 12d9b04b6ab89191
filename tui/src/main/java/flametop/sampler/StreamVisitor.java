package flametop.sampler;

import java.util.List;

/**
 * Receives the records of the stream in order, on one thread. All text is already clean (see {@link
 * CleanText}). The format, units and ids are those of the crate {@code flametop-stream}.
 */
public interface StreamVisitor {
  /**
   * A batch begins.
   *
   * @param time ns, CLOCK_MONOTONIC: when its pass began
   */
  void batchBegins(long time, int sequence, boolean endsPass, boolean more);

  /** All records of the batch were delivered. */
  void batchEnds();

  /** Totals by {@link Counter#ordinal()}; the array is reused. */
  void counters(long[] totals);

  void processSeen(
      int process,
      int tgid,
      long startBoottime,
      int execId,
      int uid,
      long cgroup,
      boolean kthread,
      String comm,
      String commandLine);

  /**
   * The control group that a process is in from now on.
   *
   * @param path from the root; empty if it is not known
   */
  void cgroup(int process, String path);

  /**
   * @param start ns, CLOCK_MONOTONIC
   * @param fresh the task began after sampling did
   */
  void taskSeen(int task, int process, int tid, long start, boolean fresh, String comm);

  /**
   * What the task spent in uninterruptible sleep (state D), the sleep that goes on included, up to
   * its next sight.
   *
   * @param nanos since the task began; -1: it is not counted any more
   */
  void taskBlocked(int task, long nanos);

  void taskGone(int task, long time, long run, long wait, boolean exact);

  /**
   * @param buildId hexadecimal, may be empty
   */
  void moduleSeen(int module, ModuleKind kind, String path, String buildId);

  void frameSeen(int frame, int module, long offset, boolean guessed);

  /**
   * @param frames frame ids, outermost first: {@code user} user frames, then kernel frames; the
   *     array is the receiver's to keep
   */
  void stackSeen(int stack, WalkEnd end, int user, int[] frames);

  /**
   * @param stack stack id, or -1 for none; {@code why} says why there is none or why it is short
   */
  void taskChanged(
      long time,
      int task,
      int stack,
      long run,
      long wait,
      long nvcsw,
      long nivcsw,
      int cpu,
      State state,
      WalkEnd why);

  /** A sample of the CPU clock; like {@link #taskChanged}. */
  void cpuSample(
      long time,
      int task,
      int stack,
      long run,
      long wait,
      long nvcsw,
      long nivcsw,
      int cpu,
      State state,
      WalkEnd why,
      boolean userMode);

  /**
   * A source of events; again for the same number when something changed.
   *
   * @param spec as it was asked for
   * @param why why it is missing, and what mends that; else empty
   */
  void sourceSeen(int source, SourceState state, SourceUnit unit, String spec, String why);

  void sourceTotals(int source, SourceTotals totals);

  /**
   * An event; like {@link #cpuSample}.
   *
   * @param weight of the event
   * @param rate weight between stacks when the stack was taken: the event stands for {@code weight
   *     ÷ (1 − e^(−weight ÷ rate))}, and for its weight alone if the rate is 0
   */
  void event(
      long time,
      int task,
      int stack,
      long run,
      long wait,
      long nvcsw,
      long nivcsw,
      int cpu,
      State state,
      WalkEnd why,
      boolean userMode,
      int source,
      long weight,
      long rate);

  /** Totals in ns; -1 for what the kernel does not count. */
  void cpuUsage(
      int cpu,
      long idle,
      long elapsed,
      long wakeups,
      long ownWakeups,
      long user,
      long nice,
      long system,
      long irq,
      long softirq,
      long steal);

  /**
   * Totals, -1 where there is none.
   *
   * @param frequency Hz now
   * @param offered cycles that passed at its frequencies
   * @param cycles that it ran
   */
  void cpuCycles(int cpu, long frequency, long offered, long cycles);

  void idleState(int cpu, int state, long residency, long entries, long tooShort, long tooLong);

  /**
   * A CPU came online or went offline. What is told of the CPU from now on is of these idle states.
   */
  void cpuChanged(int cpu, boolean online, List<StreamFacts.IdleState> states);

  void name(int frame, NameSource source, String name);

  /** The level of a notice that is good to know; each other is that something does not work. */
  int TOLD = 0;

  /**
   * @param level {@link #TOLD}, 1, or one that this version of flametop does not know
   * @param process that the notice is of, until it is forgotten; -1: of none
   */
  void notice(int level, int process, String text);

  /** A record of a kind that this version of flametop does not know; it is skipped. */
  default void unknown(int kind, int bytes) {}

  /**
   * Where a frame is in the source.
   *
   * @param calls the function that the frame is in and what was inlined into it there, outermost
   *     first
   * @param missing why there are none, and what mends it; else empty
   */
  void place(int frame, List<Call> calls, String missing);

  /** Load averages × 100, rates in force, ns of CPU that flametop costs. */
  void hostUsage(int load1, int load5, int load15, int passHz, int cpuHz, long ownCpu);

  /**
   * These ids name nothing any more, until a later record introduces them as something else.
   *
   * @param ids the array is the receiver's to keep
   */
  void forgotten(IdSpace space, int[] ids);

  /**
   * @param cpu parts of the CPU that flametop costs, in ns; they do not overlap
   * @param resident bytes of memory, by process
   */
  void ownUsage(List<OwnPart> cpu, List<OwnPart> resident);
}
