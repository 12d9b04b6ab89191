package flametop.sampler;

import java.util.List;

/** A visitor that ignores all that it is told; for those that want to know a little. */
abstract class PartialVisitor implements StreamVisitor {
  @Override
  public void batchBegins(long time, int sequence, boolean endsPass, boolean more) {}

  @Override
  public void batchEnds() {}

  @Override
  public void counters(long[] totals) {}

  @Override
  public void processSeen(
      int process,
      int tgid,
      long startBoottime,
      int execId,
      int uid,
      long cgroup,
      boolean kthread,
      String comm,
      String commandLine) {}

  @Override
  public void taskBlocked(int task, long nanos) {}

  @Override
  public void cgroup(int process, String path) {}

  @Override
  public void taskSeen(int task, int process, int tid, long start, boolean fresh, String comm) {}

  @Override
  public void taskGone(int task, long time, long run, long wait, boolean exact) {}

  @Override
  public void moduleSeen(int module, ModuleKind kind, String path, String buildId) {}

  @Override
  public void frameSeen(int frame, int module, long offset, boolean guessed) {}

  @Override
  public void stackSeen(int stack, WalkEnd end, int user, int[] frames) {}

  @Override
  public void taskChanged(
      long time,
      int task,
      int stack,
      long run,
      long wait,
      long nvcsw,
      long nivcsw,
      int cpu,
      State state,
      WalkEnd why) {}

  @Override
  public void cpuSample(
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
      boolean userMode) {}

  @Override
  public void cpuUsage(
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
      long steal) {}

  @Override
  public void cpuCycles(int cpu, long frequency, long offered, long cycles) {}

  @Override
  public void idleState(
      int cpu, int state, long residency, long entries, long tooShort, long tooLong) {}

  @Override
  public void cpuChanged(int cpu, boolean online, List<StreamFacts.IdleState> states) {}

  @Override
  public void name(int frame, NameSource source, String name) {}

  @Override
  public void place(int frame, List<Call> calls, String missing) {}

  @Override
  public void notice(int level, int process, String text) {}

  @Override
  public void hostUsage(int load1, int load5, int load15, int passHz, int cpuHz, long ownCpu) {}

  @Override
  public void forgotten(IdSpace space, int[] ids) {}

  @Override
  public void ownUsage(List<OwnPart> cpu, List<OwnPart> resident) {}

  @Override
  public void sourceSeen(int source, SourceState state, SourceUnit unit, String spec, String why) {}

  @Override
  public void sourceTotals(int source, SourceTotals totals) {}

  @Override
  public void event(
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
      long rate) {}
}
