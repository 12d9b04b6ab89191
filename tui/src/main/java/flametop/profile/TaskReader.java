package flametop.profile;

import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.Matcher;

/** Reads out what every task does and did, for a {@link TasksReport}. */
final class TaskReader {
  private static final int RUN = StateSet.ON_CPU.bits();
  private static final int QUEUED = StateSet.of(State.QUEUED).bits();
  private static final int OFF = StateSet.ALL.bits() & ~RUN & ~QUEUED;
  private static final int NONE = -1;

  private final Owners owners;
  private final OwnerTimes times;
  private final TasksNow tasks;

  /**
   * @param tasks that live at the moment that is shown
   */
  TaskReader(Owners owners, OwnerTimes times, TasksNow tasks) {
    this.owners = owners;
    this.times = times;
    this.tasks = tasks;
  }

  /** Those of one pid, or one thread. */
  private static final class Found {
    int tgid;
    int tid;
    int uid;
    String comm;
    String commandLine;
    int threads;
    long run;
    long queued;
    long off;
    long ageNanos;

    /** The one that speaks for it, of those that live; {@link #NONE}: it ended. */
    int task = NONE;

    State state;
  }

  /** What was found so far, each once. */
  private static final class All {
    final List<Found> found = new ArrayList<>();
    private final LongTable places = new LongTable();

    Found of(long key) {
      int place = places.get(key);
      if (place == LongTable.NONE) {
        place = found.size();
        places.put(key, place);
        found.add(new Found());
      }
      return found.get(place);
    }
  }

  /**
   * @param present ns: the moment at which the tasks do what they do
   */
  TasksReport report(TasksQuery query, Shape shape, long present) {
    All all = new All();
    did(all, query, shape);
    doNow(all, query, shape, present);
    int count = all.found.size();
    List<Found> found = all.found;
    if (query.search() != null) {
      found.removeIf(f -> !find(query, f.comm) && !find(query, f.commandLine));
    }
    found.sort(order(query.order()));
    List<TasksReport.Row> rows = new ArrayList<>();
    for (Found f : found.subList(0, Math.min(query.rows(), found.size()))) {
      rows.add(row(query, f));
    }
    return new TasksReport(List.copyOf(rows), found.size(), count, times.covered());
  }

  private void did(All all, TasksQuery query, Shape shape) {
    for (int owner = 0; owner < times.count(); owner++) {
      long run = times.weight(owner, RUN);
      long queued = times.weight(owner, QUEUED);
      long off = times.weight(owner, OFF);
      if ((run | queued | off) != 0 && owner != Owners.OLDER && owners.admits(shape, owner)) {
        int process = owners.process(owner);
        int tgid = owners.tgid(process);
        int tid = query.threads() ? Math.max(0, owners.tid(owner)) : 0;
        // Of those that ended long ago there is one for each comm.
        Found f = all.of(tgid == Owners.NO_TGID ? -1L - process : key(tgid, tid));
        f.tgid = Math.max(0, tgid);
        f.tid = tid;
        f.uid = owners.uid(process);
        f.comm = query.threads() ? owners.comm(owner) : owners.processComm(owner);
        f.commandLine = owners.commandLine(process);
        f.run += run;
        f.queued += queued;
        f.off += off;
      }
    }
  }

  private void doNow(All all, TasksQuery query, Shape shape, long present) {
    for (int task = 0; task < tasks.count(); task++) {
      State state = tasks.state(task);
      if (state == State.IDLE_KTHREAD || !tasks.admitted(task, shape)) {
        continue;
      }
      int tid = query.threads() ? tasks.tid(task) : 0;
      Found f = all.of(key(tasks.tgid(task), tid));
      f.tgid = tasks.tgid(task);
      f.tid = tid;
      f.uid = tasks.uid(task);
      f.comm = query.threads() ? tasks.comm(task) : tasks.processComm(task);
      f.commandLine = tasks.commandLine(task);
      f.threads++;
      long age = present - Math.min(present, tasks.since(task));
      if (f.state == null || speaks(state, age, f)) {
        f.state = state;
        f.task = task;
        f.ageNanos = age;
      }
    }
  }

  /** Whether a thread speaks for its process rather than the one that did so far. */
  private static boolean speaks(State state, long age, Found f) {
    if (state != f.state) {
      return liveliness(state) < liveliness(f.state);
    }
    // Who waits longest has trouble; asleep it is since its last thread is.
    boolean waits = state == State.DISK || state == State.QUEUED;
    return waits ? age > f.ageNanos : age < f.ageNanos;
  }

  private static long key(int tgid, int tid) {
    return (long) tgid << 32 | tid;
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

  private TasksReport.Row row(TasksQuery query, Found f) {
    boolean lives = f.task != NONE;
    return new TasksReport.Row(
        f.tgid,
        f.tid,
        query.threads() ? 1 : f.threads,
        f.uid,
        f.comm,
        f.commandLine,
        f.run,
        f.queued,
        f.off,
        f.state,
        f.ageNanos,
        lives ? tasks.innermost(f.task, false) : null,
        lives ? tasks.innermost(f.task, true) : null);
  }

  private static boolean find(TasksQuery query, String text) {
    Matcher matcher = query.search().matcher(new BoundedText(text, Matches.looks(text)));
    try {
      return matcher.find();
    } catch (BoundedText.Exhausted | StackOverflowError e) {
      return false;
    }
  }

  private static Comparator<Found> order(TasksQuery.Order order) {
    return (a, b) -> {
      int first =
          switch (order) {
            case CPU -> compare(b.run, a.run, b.queued, a.queued);
            case QUEUED -> compare(b.queued, a.queued, b.run, a.run);
            case AGE -> Long.compare(b.ageNanos, a.ageNanos);
            case PID -> 0;
          };
      return first != 0 ? first : compare(a.tgid, b.tgid, a.tid, b.tid);
    };
  }

  private static int compare(long a, long b, long then, long thenB) {
    int first = Long.compare(a, b);
    return first != 0 ? first : Long.compare(then, thenB);
  }
}
