package flametop.profile.live;

import flametop.profile.answer.HeatMap;
import flametop.profile.host.HostUsage;
import flametop.profile.log.Accounts;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.Names;
import flametop.profile.log.Owners;
import flametop.profile.log.Stacks;
import flametop.sampler.Call;
import flametop.sampler.Head;
import flametop.sampler.IdSpace;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.OwnPart;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.sampler.SourceUnit;
import flametop.sampler.State;
import flametop.sampler.StreamFacts;
import flametop.sampler.StreamVisitor;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Sorts the records of the stream into the tables, the accounts and the log. */
public final class Intake implements StreamVisitor {
  private static final int MAX_NOTICES = 16;

  private final ChangeLog log;
  private final Owners owners;
  private final Stacks stacks;
  private final Names names;
  private final Places places;
  private final Accounts accounts;
  private final HostUsage host;
  private final Quality quality;
  private final EventSources events;
  private final List<String> notices = new ArrayList<>();

  /** Notices of one process, by its id. */
  private final Map<Integer, Set<String>> noticesOf = new HashMap<>();

  private long now = Long.MIN_VALUE;
  private long batchTime;
  private boolean endsPass;
  private boolean more;

  /** The time of the sample before; {@link Long#MIN_VALUE} before the first. */
  private long sampled = Long.MIN_VALUE;

  /**
   * Tells whether a task was seen off the CPU since the mark before: a pass gets no more marks
   * then.
   */
  private boolean seenOff;

  Intake(
      ChangeLog log,
      Owners owners,
      Stacks stacks,
      Names names,
      Places places,
      HostUsage host,
      EventSources events) {
    this.log = log;
    this.owners = owners;
    this.stacks = stacks;
    this.names = names;
    this.places = places;
    this.host = host;
    this.events = events;
    quality = new Quality(stacks);
    accounts = new Accounts(log, owners);
    accounts.rates(host.passHz(), host.cpuHz());
  }

  Accounts accounts() {
    return accounts;
  }

  /** Marks the owners and stacks that tasks are in now. */
  void mark(BitSet ofOwners, BitSet ofStacks) {
    accounts.mark(ofOwners, ofStacks);
    events.mark(ofOwners, ofStacks);
  }

  /**
   * The newest time at which tasks were looked at; {@link Long#MIN_VALUE} before the first batch.
   */
  long now() {
    return now;
  }

  public long[] counters() {
    return quality.counters().clone();
  }

  Quality quality() {
    return quality;
  }

  List<String> notices() {
    return List.copyOf(notices);
  }

  @Override
  public void batchBegins(long time, int sequence, boolean endsPass, boolean more) {
    if (now == Long.MIN_VALUE) {
      log.startAt(time);
    }
    batchTime = time;
    accounts.batchBegins(time);
    // What only drains tells of no later moment than the samples of the CPU clock in it: nobody
    // looked at the tasks then.
    now = endsPass || more ? Math.max(now, time) : Math.max(now, log.startTime());
    this.endsPass = endsPass;
    this.more = more;
    owners.tasks().moment(now);
    quality.batchBegins(time, endsPass);
  }

  @Override
  public void batchEnds() {
    if (endsPass) {
      accounts.passEnds(batchTime);
      host.passEnds(batchTime, owners.tasks().now(State.QUEUED));
    }
    host.batchEnds(batchTime);
    stacks.impatient(batchTime);
    quality.batchEnds();
    names.flush();
    if (!more) {
      seenOff = false;
      log.mark(now, accounts.passes());
      events.mark(now, accounts.passes());
    }
  }

  /** No more batches will come. */
  void end() {
    if (now != Long.MIN_VALUE) {
      events.end(now, accounts.passes());
    }
  }

  @Override
  public void counters(long[] totals) {
    quality.counters(totals);
  }

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
      String commandLine) {
    owners.processes().seen(process, tgid, uid, comm, commandLine);
    quality.processSeen(owners.processes().slot(process), tgid, startBoottime, comm);
  }

  @Override
  public void cgroup(int process, String path) {
    owners.processes().cgroup(process, path);
  }

  @Override
  public void parent(int process, int parent) {
    owners.processes().parent(process, parent);
  }

  @Override
  public void taskSeen(int task, int process, int tid, long start, boolean fresh, String comm) {
    owners.tasks().seen(task, process, tid, comm);
    accounts.taskSeen(task, start, fresh);
  }

  @Override
  public void taskBlocked(int task, long nanos) {
    accounts.blocked(task, nanos);
  }

  @Override
  public void taskGone(int task, long time, long run, long wait, boolean exact) {
    sightOf(time);
    owners.tasks().moment(now);
    accounts.gone(task, time, run, wait);
    owners.gone(task);
  }

  @Override
  public void moduleSeen(int module, ModuleKind kind, String path, String buildId) {
    stacks.moduleSeen(module, kind, path, buildId);
  }

  @Override
  public void frameSeen(int frame, int module, long offset, boolean guessed) {
    stacks.frameSeen(frame, module, offset, guessed);
    places.forget(frame);
  }

  @Override
  public void stackSeen(int stack, WalkEnd end, int user, int[] frames) {
    stacks.stackSeen(stack, end, user, frames, batchTime);
  }

  @Override
  public void taskChanged(Head head) {
    sightOf(head.time);
    seenOff |= head.state != State.RUN;
    int seen = stack(head);
    accounts.changed(head.task, head.time, head.state, seen, head.run, head.queued, head.nvcsw);
    owners.tasks().state(head.task, head.state);
    host.waited(head.cpu, accounts.takeWaited());
    sample(head, seen);
  }

  @Override
  public void cpuSample(Head head) {
    cellOf(head.time);
    now = Math.max(now, head.time);
    // The clock of the CPUs runs before the first pass does.
    if (head.time < log.startTime() && accounts.passes() == 0) {
      log.startAt(head.time);
    }
    int seen = stack(head);
    accounts.sampled(head.task, head.time, head.cpu, seen, head.run, head.queued, head.nvcsw);
    host.waited(head.cpu, accounts.takeWaited());
    host.sample(head.cpu, head.userMode, stacks.softirq(seen));
    sample(head, seen);
  }

  /**
   * Puts marks into the log where the cell of the sample before ends and where that of this one
   * begins, if this sample is of a later cell.
   */
  private void cellOf(long time) {
    long cell = Math.floorDiv(time, HeatMap.CELL_NANOS);
    long before = Math.floorDiv(sampled, HeatMap.CELL_NANOS);
    if (sampled != Long.MIN_VALUE && !seenOff && cell > before) {
      log.within((before + 1) * HeatMap.CELL_NANOS);
      log.within(cell * HeatMap.CELL_NANOS);
    }
    sampled = Math.max(sampled, time);
  }

  @Override
  public void sourceSeen(int source, SourceState state, SourceUnit unit, String spec, String why) {
    events.seen(source, state, unit, spec, why, log.startTime(), batchTime);
  }

  @Override
  public void sourceTotals(int source, SourceTotals totals) {
    events.totals(source, totals, batchTime);
  }

  @Override
  public void event(Head head, int source, long weight, long rate) {
    int seen = stack(head);
    events.event(source, owners.owner(head.task), seen, weight, rate);
    sample(head, seen);
  }

  private void sample(Head head, int stack) {
    quality.sample(owners.tasks().process(head.task), stack, head.why);
  }

  /**
   * A task was seen, or ended, at this time. The sight is a new moment if a pass made it, and none
   * if the task was seen alone.
   */
  private void sightOf(long time) {
    if (endsPass || more) {
      now = Math.max(now, time);
    }
  }

  private int stack(Head head) {
    int stack = head.stack >= 0 ? stacks.slot(head.stack) : Stacks.missing(head.why);
    if (stacks.isOfJvm(stack)) {
      owners.tasks().runsJvm(head.task);
    }
    return stack;
  }

  @Override
  public void cpuUsage(int cpu, long[] totals) {
    host.usage(cpu, totals);
  }

  @Override
  public void cpuCycles(int cpu, long frequency, long offered, long cycles) {
    host.cycles(cpu, frequency, offered, cycles);
  }

  @Override
  public void idleState(
      int cpu, int state, long residency, long entries, long tooShort, long tooLong) {
    host.idleState(cpu, state, residency, entries, tooShort, tooLong);
  }

  @Override
  public void cpuChanged(int cpu, boolean online, List<StreamFacts.IdleState> states) {
    host.cpuChanged(cpu, online, states);
  }

  @Override
  public void name(int frame, NameSource source, String name) {
    stacks.named(frame, source, name);
    quality.nameCame();
  }

  @Override
  public void place(int frame, List<Call> calls, String missing) {
    places.answered(frame, calls, missing);
  }

  @Override
  public void notice(int level, int process, String text) {
    if (level != TOLD) {
      tell(text);
      if (process >= 0) {
        noticesOf.computeIfAbsent(process, p -> new HashSet<>()).add(text);
      }
    }
  }

  /** Adds a notice, unless it is there; the oldest goes when there are many. */
  void tell(String text) {
    notices.remove(text);
    notices.add(text);
    if (notices.size() > MAX_NOTICES) {
      notices.remove(0);
    }
  }

  @Override
  public void hostUsage(int load1, int load5, int load15, int passHz, int cpuHz, long ownCpu) {
    host.host(load1, load5, load15, passHz, cpuHz, ownCpu);
    accounts.rates(passHz, cpuHz);
  }

  @Override
  public void forgotten(IdSpace space, int[] ids) {
    switch (space) {
      case TASK -> {
        for (int task : ids) {
          // Of a stream that does not say that it ended, the sums are those seen last.
          accounts.gone(task, now, 0, 0);
        }
        owners.forget(space, ids);
      }
      case PROCESS -> {
        for (int process : ids) {
          notices.removeAll(noticesOf.getOrDefault(process, Set.of()));
          noticesOf.remove(process);
        }
        owners.forget(space, ids);
      }
      case MODULE, FRAME, STACK -> stacks.forget(space, ids);
    }
  }

  @Override
  public void ownUsage(List<OwnPart> cpu, List<OwnPart> resident) {
    quality.ownUsage(cpu, resident);
  }
}
