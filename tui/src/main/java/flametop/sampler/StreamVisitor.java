package flametop.sampler;

import java.util.List;

/**
 * Receives the records of the stream in order, on one thread; records of which a visitor has no
 * method are ignored. All text is already clean (see {@link CleanText}). The format, units and ids
 * are those of the crate {@code flametop-stream}.
 */
public interface StreamVisitor {
  /**
   * A batch begins.
   *
   * @param time ns, CLOCK_MONOTONIC: when its pass began
   */
  default void batchBegins(long time, int sequence, boolean endsPass, boolean more) {}

  /** All records of the batch were delivered. */
  default void batchEnds() {}

  /** Totals by {@link Counter#ordinal()}; the array is reused. */
  default void counters(long[] totals) {}

  default void processSeen(
      int process,
      int tgid,
      long startBoottime,
      int execId,
      int uid,
      long cgroup,
      boolean kthread,
      String comm,
      String commandLine) {}

  /**
   * The control group that a process is in from now on.
   *
   * @param path from the root; empty if it is not known
   */
  default void cgroup(int process, String path) {}

  /**
   * Who started a process.
   *
   * @param parent the process that did, or the image that the process had before it executed
   */
  default void parent(int process, int parent) {}

  /**
   * @param start ns, CLOCK_MONOTONIC
   * @param fresh the task began after sampling did
   */
  default void taskSeen(int task, int process, int tid, long start, boolean fresh, String comm) {}

  /**
   * The time of a task in uninterruptible sleep (state D), the sleep that goes on included, up to
   * the next sight of the task.
   *
   * @param nanos since the task began; -1: it is not counted any more
   */
  default void taskBlocked(int task, long nanos) {}

  default void taskGone(int task, long time, long run, long wait, boolean exact) {}

  /**
   * @param buildId hexadecimal, may be empty
   */
  default void moduleSeen(int module, ModuleKind kind, String path, String buildId) {}

  default void frameSeen(int frame, int module, long offset, boolean guessed) {}

  /**
   * @param frames frame ids, outermost first: {@code user} user frames, then kernel frames; the
   *     array is the receiver's to keep
   */
  default void stackSeen(int stack, WalkEnd end, int user, int[] frames) {}

  /** The task has another state, or other sums, than when it was seen last. */
  default void taskChanged(Head head) {}

  /** A sample of the CPU clock. */
  default void cpuSample(Head head) {}

  /**
   * A source of events; again for the same number when something changed.
   *
   * @param spec as it was asked for
   * @param why why it is missing, and what mends that; else empty
   */
  default void sourceSeen(
      int source, SourceState state, SourceUnit unit, String spec, String why) {}

  default void sourceTotals(int source, SourceTotals totals) {}

  /**
   * An event of a source.
   *
   * @param weight of the event
   * @param rate weight between stacks when the stack was taken: the event stands for {@code weight
   *     ÷ (1 − e^(−weight ÷ rate))}, and for its weight alone if the rate is 0
   */
  default void event(Head head, int source, long weight, long rate) {}

  /**
   * Totals of a CPU.
   *
   * @param totals ns idle, ns in all, wake-ups, flametop's own wake-ups; then ns in user, nice,
   *     system, irq, softirq and steal, each -1 if the kernel does not count it; the array is
   *     reused
   */
  default void cpuUsage(int cpu, long[] totals) {}

  /**
   * Totals, -1 where there is none.
   *
   * @param frequency Hz now
   * @param offered cycles that passed at its frequencies
   * @param cycles that it ran
   */
  default void cpuCycles(int cpu, long frequency, long offered, long cycles) {}

  default void idleState(
      int cpu, int state, long residency, long entries, long tooShort, long tooLong) {}

  /**
   * A CPU came online or went offline. What is told of the CPU from now on is of these idle states.
   */
  default void cpuChanged(int cpu, boolean online, List<StreamFacts.IdleState> states) {}

  default void name(int frame, NameSource source, String name) {}

  /** The level of a notice that is good to know; each other is that something does not work. */
  int TOLD = 0;

  /**
   * @param level {@link #TOLD}, 1, or one that this version of flametop does not know
   * @param process that the notice is of, until it is forgotten; -1: of none
   */
  default void notice(int level, int process, String text) {}

  /** A record of a kind that this version of flametop does not know; it is skipped. */
  default void unknown(int kind, int bytes) {}

  /**
   * Where a frame is in the source.
   *
   * @param calls the function that the frame is in and what was inlined into it there, outermost
   *     first
   * @param missing why there are none, and what mends it; else empty
   */
  default void place(int frame, List<Call> calls, String missing) {}

  /** Load averages × 100, rates in force, ns of CPU that flametop costs. */
  default void hostUsage(int load1, int load5, int load15, int passHz, int cpuHz, long ownCpu) {}

  /**
   * These ids name nothing any more, until a later record introduces them as something else.
   *
   * @param ids the array is the receiver's to keep
   */
  default void forgotten(IdSpace space, int[] ids) {}

  /**
   * @param cpu parts of the CPU that flametop costs, in ns; they do not overlap
   * @param resident bytes of memory, by process
   */
  default void ownUsage(List<OwnPart> cpu, List<OwnPart> resident) {}
}
