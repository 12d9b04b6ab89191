package flametop.profile.log;

import com.github.benmanes.caffeine.cache.Interner;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.Shape;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.List;

/** Tasks by their ids of the stream: the process, the comm and the state that each has now. */
public final class Tasks {
  private static final int GONE = -1;

  /** A task under one id of the stream. */
  static final class Task {
    final int id;
    int tid;

    /** The slot in {@link Processes}. */
    int process = Owners.NONE;

    int owner = Owners.NONE;

    /** The owner that was made last; those made before are a list that {@link Owners} has. */
    int newest = Owners.NONE;

    String comm = "";

    /** {@link State#number()}, or {@link #GONE}. */
    private int state = GONE;

    private boolean ended;

    /** Where the task stands in {@link #live}. */
    private int livePlace;

    private Task(int id) {
      this.id = id;
    }
  }

  private final Processes processes;
  private final Interner<String> texts;
  private final List<Task> tasks = new ArrayList<>();

  /** Tasks that are not gone, in no order. */
  private final List<Task> live = new ArrayList<>();

  private final int[] nowByState = new int[State.values().length];
  private long time = Long.MIN_VALUE;

  Tasks(Processes processes, Interner<String> texts) {
    this.processes = processes;
    this.texts = texts;
  }

  /** The next records are of this time, ns, or later. */
  public void moment(long now) {
    time = now;
  }

  /** The time of the last {@link #moment}. */
  long time() {
    return time;
  }

  Task get(int id) {
    return tasks.get(id);
  }

  /** All tasks, those that are gone included. */
  List<Task> all() {
    return tasks;
  }

  public void seen(int id, int processId, int tid, String comm) {
    while (tasks.size() <= id) {
      tasks.add(new Task(tasks.size()));
    }
    Task task = tasks.get(id);
    int slot = processes.slot(processId);
    ProcessEntry process = processes.get(slot);
    task.ended = false;
    if (task.state != GONE) {
      leave(task);
      process.alive++;
    }
    process.gone = Owners.NEVER;
    task.tid = tid;
    task.process = slot;
    task.comm = texts.intern(comm);
    task.owner = Owners.NONE;
  }

  /** A stack of the task is in the library of a JVM: its process is one. */
  public void runsJvm(int id) {
    ProcessEntry process = processes.get(tasks.get(id).process);
    if (!process.isJvm) {
      process.isJvm = true;
      process.version++;
    }
  }

  /** What the task is for, by its name in its process. */
  static ThreadKind kind(Task task, ProcessEntry process) {
    return process.isJvm ? JvmThreads.kind(task.comm) : ThreadKind.PROGRAM;
  }

  /** The task is in this state now. */
  public void state(int id, State state) {
    Task task = tasks.get(id);
    if (task.state == GONE) {
      ProcessEntry process = processes.get(task.process);
      process.alive++;
      process.gone = Owners.NEVER;
      task.livePlace = live.size();
      live.add(task);
    }
    count(task, state.number());
  }

  /**
   * The task is gone.
   *
   * @return whether the task was not gone before
   */
  boolean gone(Task task) {
    if (task.state != GONE) {
      Task last = live.remove(live.size() - 1);
      if (last != task) {
        live.set(task.livePlace, last);
        last.livePlace = task.livePlace;
      }
      leave(task);
    }
    count(task, GONE);
    if (task.ended) {
      return false;
    }
    task.ended = true;
    ProcessEntry process = processes.get(task.process);
    if (process.alive <= 0) {
      process.gone = time;
    }
    return true;
  }

  private void count(Task task, int now) {
    if (task.state != GONE) {
      nowByState[State.of(task.state).ordinal()]--;
    }
    if (now != GONE) {
      nowByState[State.of(now).ordinal()]++;
    }
    task.state = now;
  }

  private void leave(Task task) {
    ProcessEntry process = processes.get(task.process);
    if (--process.alive <= 0) {
      process.gone = time;
    }
  }

  /** Tasks that are not gone; {@link #live} names them. */
  int living() {
    return live.size();
  }

  /** The id of a task that is not gone; in no order. */
  int live(int index) {
    return live.get(index).id;
  }

  /** State of a task that is not gone. */
  State state(int id) {
    return State.of(tasks.get(id).state);
  }

  /** Where the process of a task is kept. */
  public int process(int id) {
    return tasks.get(id).process;
  }

  /** Tasks that are in a state now. */
  public int now(State state) {
    return nowByState[state.ordinal()];
  }

  /** Tasks now, by state, of those that the shape admits. */
  public int[] byState(Shape shape) {
    if (shape.everybody()) {
      return nowByState.clone();
    }
    int[] counts = new int[State.values().length];
    for (Task task : live) {
      ProcessEntry process = processes.get(task.process);
      if (shape.admits(
          process.tgid,
          task.tid,
          process.uid,
          task.comm,
          process.comm,
          process.service,
          process.cgroup,
          process.ancestor().name(),
          kind(task, process))) {
        counts[State.of(task.state).ordinal()]++;
      }
    }
    return counts;
  }
}
