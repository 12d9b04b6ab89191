package flametop.profile.live;

import flametop.array.LongIndex;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TasksQuery;
import flametop.profile.answer.TasksReport;
import flametop.profile.log.OwnerTimes;
import flametop.profile.log.Owners;
import flametop.profile.log.Processes;
import flametop.profile.log.Stacks;
import flametop.profile.log.TaskStates;
import flametop.profile.tree.BoundedText;
import flametop.profile.tree.Matches;
import flametop.profile.tree.Noise;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Makes a {@link TasksReport}: what every task does now and did in a window. */
final class TaskReader {
  private static final int RUN = StateSet.ON_CPU.bits();
  private static final List<State> LIVELIEST =
      List.of(
          State.RUN,
          State.QUEUED,
          State.DISK,
          State.SLEEP,
          State.STOPPED,
          State.OTHER,
          State.PARKED,
          State.ZOMBIE,
          State.IDLE_KTHREAD);

  private static final int QUEUED = StateSet.of(State.QUEUED).bits();
  private static final int DISK = StateSet.of(State.DISK).bits();
  private static final int OFF = StateSet.BLOCKED.bits();

  private final Owners owners;
  private final Processes processes;
  private final OwnerTimes times;
  private final Stacks stacks;
  private final TaskStates states;

  private final @Nullable OwnerTimes before;
  private final Noise noise;

  /**
   * @param states of the moment that is shown
   * @param before the times in the baseline; null: nothing is compared
   */
  TaskReader(
      LogStore store,
      OwnerTimes times,
      TaskStates states,
      @Nullable OwnerTimes before,
      Noise noise) {
    owners = store.owners;
    processes = owners.processes();
    stacks = store.stacks;
    this.times = times;
    this.states = states;
    this.before = before;
    this.noise = noise;
  }

  /** The threads of one pid, or one thread. */
  private static final class Found {
    int process;
    int tid;
    String comm = "";
    ThreadKind kind = ThreadKind.PROGRAM;
    int threads;
    long run;
    long queued;
    long disk;
    long off;
    long runBefore;
    long ageNanos;

    /** {@link Noise#change} of the time on a CPU. */
    double change;

    /** The state and stack of the living task that speaks for them; null: none lives. */
    @Nullable State state;

    int stack = Stacks.NOT_SAMPLED;
  }

  /** The rows that were found so far. */
  private static final class All {
    final List<Found> found = new ArrayList<>();
    private final LongIndex places = new LongIndex();

    boolean has(long key) {
      return places.find(key) != LongIndex.NONE;
    }

    Found of(long key) {
      int place = places.row(key);
      if (place == found.size()) {
        found.add(new Found());
      }
      return found.get(place);
    }
  }

  TasksReport report(TasksQuery query, Shape shape) {
    All all = new All();
    didBefore(all, query, shape);
    did(all, query, shape);
    doNow(all, query, shape);
    List<Found> found = all.found;
    // What is compared with may have ended.
    int ended = query.ended() || before != null ? 0 : removeEnded(found);
    int count = found.size();
    Pattern search = query.search();
    if (search != null) {
      found.removeIf(
          f ->
              !find(search, f.comm)
                  && !find(search, f.kind.label())
                  && !find(search, processes.commandLine(f.process)));
    }
    for (Found f : found) {
      f.change = noise.change(f.run, f.runBefore, times.covered());
    }
    found.sort(order(query.order().in(before != null, true)));
    List<TasksReport.Row> rows = new ArrayList<>();
    for (Found f : found.subList(0, Math.min(query.rows(), found.size()))) {
      rows.add(row(query, f));
    }
    return new TasksReport(List.copyOf(rows), found.size(), count, ended, times.covered());
  }

  /** Removes the rows that ended, unless none lives; returns how many. */
  private static int removeEnded(List<Found> found) {
    int all = found.size();
    if (found.stream().anyMatch(f -> f.state != null)) {
      found.removeIf(f -> f.state == null);
    }
    return all - found.size();
  }

  private void did(All all, TasksQuery query, Shape shape) {
    for (int owner = 0; owner < times.count(); owner++) {
      long run = times.weight(owner, RUN);
      long queued = times.weight(owner, QUEUED);
      long off = times.weight(owner, OFF);
      if ((run | queued | off) != 0 && owner != Owners.OLDER && owners.admits(shape, owner)) {
        Found f = of(all, query, owner);
        f.run += run;
        f.queued += queued;
        f.disk += times.weight(owner, DISK);
        f.off += off;
      }
    }
  }

  private void didBefore(All all, TasksQuery query, Shape shape) {
    for (int owner = 0; before != null && owner < before.count(); owner++) {
      if (before.weight(owner, RUN | QUEUED | OFF) != 0
          && owner != Owners.OLDER
          && owners.admits(shape, owner)) {
        of(all, query, owner).runBefore += (long) (before.weight(owner, RUN) * noise.scale());
      }
    }
  }

  private void doNow(All all, TasksQuery query, Shape shape) {
    for (int task = 0; task < states.count(); task++) {
      int owner = states.owner(task);
      State state = states.state(task);
      // An idle kernel thread is one only if it did something.
      if (!owners.admits(shape, owner)
          || state == State.IDLE_KTHREAD && !all.has(key(query, owner))) {
        continue;
      }
      Found f = of(all, query, owner);
      f.threads++;
      long age = states.age(task);
      State spoke = f.state;
      if (spoke == null || speaks(state, age, states.stack(task), f, spoke)) {
        f.state = state;
        f.stack = states.stack(task);
        f.ageNanos = age;
      }
    }
  }

  /** The process or thread of an owner, as it was called last. */
  private Found of(All all, TasksQuery query, int owner) {
    Found f = all.of(key(query, owner));
    f.process = owners.process(owner);
    f.tid = query.threads() ? Math.max(0, owners.tid(owner)) : 0;
    f.comm = query.threads() ? owners.comm(owner) : processName(owner);
    f.kind = query.threads() ? owners.kind(owner) : ThreadKind.PROGRAM;
    return f;
  }

  /** The comm; of flametop itself its name, since the comm is that of any JVM. */
  private String processName(int owner) {
    return owners.isFlametop(owner) ? owners.service(owner) : owners.processComm(owner);
  }

  private long key(TasksQuery query, int owner) {
    int process = owners.process(owner);
    int tgid = processes.tgid(process);
    int tid = query.threads() ? Math.max(0, owners.tid(owner)) : 0;
    // Of those that ended long ago there is one for each comm.
    return tgid == Processes.NO_TGID ? -1L - process : (long) tgid << 32 | tid;
  }

  /**
   * Whether the state of a thread is shown for its process, instead of the state of the thread so
   * far.
   */
  private boolean speaks(State state, long age, int stack, Found f, State spoke) {
    if (state != spoke) {
      return liveliness(state) < liveliness(spoke);
    }
    boolean placed = stacks.innermost(stack) != null;
    if (placed != (stacks.innermost(f.stack) != null)) {
      return placed;
    }
    // Who waits longest has trouble; asleep it is since its last thread is.
    boolean waits = state == State.DISK || state == State.QUEUED;
    return waits ? age > f.ageNanos : age < f.ageNanos;
  }

  private static int liveliness(State state) {
    return LIVELIEST.indexOf(state.isKnown() ? state : State.OTHER);
  }

  private TasksReport.Row row(TasksQuery query, Found f) {
    return new TasksReport.Row(
        Math.max(0, processes.tgid(f.process)),
        f.tid,
        query.threads() ? 1 : f.threads,
        processes.uid(f.process),
        f.comm,
        processes.commandLine(f.process),
        f.kind,
        f.run,
        f.queued,
        f.disk,
        f.off,
        f.state,
        f.ageNanos,
        stacks.innermost(f.stack),
        stacks.innermostOwn(f.stack),
        before == null ? null : new TasksReport.Before(f.runBefore, f.change));
  }

  private static boolean find(Pattern search, String text) {
    Matcher matcher = search.matcher(new BoundedText(text, Matches.looks(text)));
    try {
      return matcher.find();
    } catch (BoundedText.Exhausted | StackOverflowError e) {
      return false;
    }
  }

  private Comparator<Found> order(TasksQuery.Order order) {
    Comparator<Found> first =
        switch (order) {
          case CPU -> most(f -> f.run).thenComparing(most(f -> f.queued));
          case QUEUED -> most(f -> f.queued).thenComparing(most(f -> f.run));
          case DISK -> most(f -> f.disk).thenComparing(most(f -> f.run));
          case AGE -> most(f -> f.ageNanos);
          case PID -> most(f -> 0);
          case CHANGE -> most(TaskReader::more).thenComparing(most(f -> f.run));
        };
    return first.thenComparingInt(f -> processes.tgid(f.process)).thenComparingInt(f -> f.tid);
  }

  private static Comparator<Found> most(ToLongFunction<Found> of) {
    return Comparator.comparingLong(of).reversed();
  }

  /** How much more or less the task ran than before; 0 if that is no change. */
  private static long more(Found f) {
    return f.change == 0 ? 0 : Math.abs(f.run - f.runBefore);
  }
}
