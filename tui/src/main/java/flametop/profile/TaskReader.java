package flametop.profile;

import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;

/** Reads out what every task does and did, for a {@link TasksReport}. */
final class TaskReader {
  private static final int RUN = StateSet.ON_CPU.bits();
  private static final int QUEUED = StateSet.of(State.QUEUED).bits();
  private static final int OFF = StateSet.ALL.bits() & ~RUN & ~QUEUED;

  private final Owners owners;
  private final Stacks stacks;
  private final OwnerTimes times;
  private final TaskStates states;

  TaskReader(Owners owners, Stacks stacks, OwnerTimes times, TaskStates states) {
    this.owners = owners;
    this.stacks = stacks;
    this.times = times;
    this.states = states;
  }

  /** Those of one pid, or one thread. */
  private static final class Tasks {
    /** Its owner or task that speaks for it: one that lives, else the newest. */
    int process;

    int tid;
    String comm;
    int threads;
    long run;
    long queued;
    long off;
    int task = Owners.NONE;
    State state;
  }

  TasksReport report(TasksQuery query, Shape shape) {
    Map<Long, Tasks> found = new HashMap<>();
    for (int owner = 0; owner < times.count(); owner++) {
      long run = times.weight(owner, RUN);
      long queued = times.weight(owner, QUEUED);
      long off = times.weight(owner, OFF);
      if ((run | queued | off) != 0 && owner != Owners.OLDER && owners.admits(shape, owner)) {
        int process = owners.process(owner);
        Tasks tasks = of(found, query, process, Math.max(0, owners.tid(owner)));
        tasks.process = process;
        tasks.comm = query.threads() ? owners.comm(owner) : owners.processComm(owner);
        tasks.run += run;
        tasks.queued += queued;
        tasks.off += off;
      }
    }
    for (int task = 0; task < states.count(); task++) {
      int owner = states.owner(task);
      State state = states.state(task);
      if (owners.admits(shape, owner)) {
        int process = owners.process(owner);
        Tasks tasks = of(found, query, process, Math.max(0, owners.tid(owner)));
        tasks.process = process;
        tasks.comm = query.threads() ? owners.comm(owner) : owners.processComm(owner);
        tasks.threads++;
        if (tasks.state == null || liveliness(state) < liveliness(tasks.state)) {
          tasks.state = state;
          tasks.task = task;
        }
      }
    }
    List<TasksReport.Row> rows = new ArrayList<>(found.size());
    found.values().forEach(tasks -> rows.add(row(query, tasks)));
    if (query.search() != null) {
      rows.removeIf(row -> !matches(query, row));
    }
    rows.sort(order(query.order()));
    int all = rows.size();
    return new TasksReport(
        List.copyOf(rows.subList(0, Math.min(query.rows(), all))), all, times.covered());
  }

  private Tasks of(Map<Long, Tasks> found, TasksQuery query, int process, int tid) {
    int tgid = owners.tgid(process);
    int one = query.threads() ? tid : 0;
    // Of those that ended long ago there is one for each comm.
    long key = tgid == Owners.NO_TGID ? -1L - process : (long) tgid << 32 | one;
    Tasks tasks = found.get(key);
    if (tasks == null) {
      tasks = new Tasks();
      tasks.tid = one;
      found.put(key, tasks);
    }
    return tasks;
  }

  private static int liveliness(State state) {
    return switch (state) {
      case RUN -> 0;
      case QUEUED -> 1;
      case DISK -> 2;
      case SLEEP -> 3;
      case STOPPED -> 4;
      case PARKED -> 5;
      case ZOMBIE -> 6;
      case IDLE_KTHREAD -> 7;
    };
  }

  private TasksReport.Row row(TasksQuery query, Tasks tasks) {
    boolean lives = tasks.state != null;
    int stack = lives ? states.stack(tasks.task) : Stacks.NOT_SAMPLED;
    return new TasksReport.Row(
        Math.max(0, owners.tgid(tasks.process)),
        tasks.tid,
        query.threads() ? 1 : tasks.threads,
        owners.uid(tasks.process),
        tasks.comm,
        owners.commandLine(tasks.process),
        tasks.run,
        tasks.queued,
        tasks.off,
        tasks.state,
        lives ? states.age(tasks.task) : 0,
        stacks.innermost(stack, false),
        stacks.innermost(stack, true));
  }

  private static boolean matches(TasksQuery query, TasksReport.Row row) {
    return find(query, row.comm()) || find(query, row.commandLine());
  }

  private static boolean find(TasksQuery query, String text) {
    Matcher matcher = query.search().matcher(new BoundedText(text, Matches.looks(text)));
    try {
      return matcher.find();
    } catch (BoundedText.Exhausted | StackOverflowError e) {
      return false;
    }
  }

  private static Comparator<TasksReport.Row> order(TasksQuery.Order order) {
    Comparator<TasksReport.Row> byPid =
        Comparator.comparingInt(TasksReport.Row::pid).thenComparingInt(TasksReport.Row::tid);
    return switch (order) {
      case CPU ->
          Comparator.comparingLong(TasksReport.Row::run)
              .thenComparingLong(TasksReport.Row::queued)
              .reversed()
              .thenComparing(byPid);
      case QUEUED ->
          Comparator.comparingLong(TasksReport.Row::queued)
              .thenComparingLong(TasksReport.Row::run)
              .reversed()
              .thenComparing(byPid);
      case AGE ->
          Comparator.comparingLong(TasksReport.Row::ageNanos).reversed().thenComparing(byPid);
      case PID -> byPid;
    };
  }
}
