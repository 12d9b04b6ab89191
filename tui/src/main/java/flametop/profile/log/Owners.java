package flametop.profile.log;

import com.github.benmanes.caffeine.cache.Interner;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.Shape;
import flametop.profile.tree.Slots;
import flametop.sampler.IdSpace;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * Processes, tasks, and owners, to whom time belongs. A process is one generation of a tgid; other
 * classes know a process by its slot, and a task by its id of the stream. An owner is a task in one
 * process under one comm and one name of its service, in one control group and below one ancestor,
 * of one {@link ThreadKind}, so that what was logged keeps its names when a task executes, is
 * renamed or is moved.
 *
 * <p>Two kinds of owner stand for what is {@link #older old}: one for the threads of a process that
 * are gone, one for the processes of a name that are gone.
 */
public final class Owners {
  // A record's own equals and hashCode are made when they are first used, which takes 20 ms.

  private record Key(
      int task,
      int process,
      String comm,
      String processComm,
      String service,
      String cgroup,
      String ancestor,
      ThreadKind kind) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && task == key.task
          && process == key.process
          && comm.equals(key.comm)
          && processComm.equals(key.processComm)
          && service.equals(key.service)
          && cgroup.equals(key.cgroup)
          && ancestor.equals(key.ancestor)
          && kind == key.kind;
    }

    @Override
    public int hashCode() {
      int names = 31 * comm.hashCode() + processComm.hashCode();
      names = 31 * (31 * names + service.hashCode()) + ancestor.hashCode();
      names = 31 * names + kind.ordinal();
      return 31 * (31 * (31 * task + process) + names) + cgroup.hashCode();
    }
  }

  private record Elders(String comm, String service, String ancestor, int uid) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Elders elders
          && uid == elders.uid
          && comm.equals(elders.comm)
          && service.equals(elders.service)
          && ancestor.equals(elders.ancestor);
    }

    @Override
    public int hashCode() {
      int names = 31 * comm.hashCode() + service.hashCode();
      return 31 * (31 * uid + names) + ancestor.hashCode();
    }
  }

  public static final int NONE = -1;

  /** Owner of time so long ago that whose it was is not known any more; no filter admits it. */
  public static final int OLDER = 0;

  /** The tgid of a process that stands for all processes of its name that are gone. */
  public static final int NO_TGID = -1;

  private static final String NOBODY = "[older]";

  /** In place of a process that was swept. */
  private static final ProcessEntry SWEPT = new ProcessEntry();

  private static final int GONE = -1;

  /** The time at which a living process or task is gone. */
  static final long NEVER = Long.MAX_VALUE;

  private static final class Task {
    final int id;
    int tid;
    int process = NONE;
    int owner = NONE;

    /** The owner that was made last; those made before are a list through {@link Owner#before}. */
    int newest = NONE;

    /** {@link State#number()}, or {@link #GONE}. */
    int state = GONE;

    boolean ended;
    String comm = "";

    /** Where the task stands in {@link #live}. */
    int livePlace;

    Task(int id) {
      this.id = id;
    }
  }

  private static final class Owner {
    final Key key;
    int tid = NONE;
    long gone = NEVER;
    int version;
    int group;
    int before = NONE;

    Owner(Key key) {
      this.key = key;
    }
  }

  private final Slots processSlots = new Slots();
  private final List<ProcessEntry> processes = new ArrayList<>();
  private final List<Task> tasks = new ArrayList<>();

  /** Tasks that are not gone, in no order. */
  private final List<Task> live = new ArrayList<>();

  private final int[] nowByState = new int[State.values().length];

  private final Slots ownerSlots = new Slots();
  private final List<Owner> owners = new ArrayList<>();
  private final Map<Key, Integer> known = new HashMap<>();
  private final Map<Elders, Integer> elders = new HashMap<>();
  private long time = Long.MIN_VALUE;

  /** Differs from before where the ancestor of any process may have another name. */
  private int ancestry;

  /**
   * Characters of command lines that are kept; beyond so many, command lines of processes that are
   * gone are forgotten, the oldest first. A host that compiles has thousands of long ones a minute.
   */
  private static final int MOST_TEXT = 8 << 20;

  /** Comms and paths repeat from one short-lived task to the next. */
  private final Interner<String> texts = Interner.newWeakInterner();

  private long text;
  private long forgetAt = MOST_TEXT;

  public Owners() {
    intern(new Key(NONE, NONE, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, ThreadKind.PROGRAM));
  }

  /** The next records are of this time, ns, or later. */
  public void moment(long now) {
    time = now;
  }

  /** Owners and processes that are kept. */
  public int size() {
    return ownerSlots.size() + processSlots.size();
  }

  /** Memory that they take, about. */
  public long bytes() {
    return 150L * size();
  }

  /** How many there ever were. */
  public long made() {
    return ownerSlots.taken() + processSlots.taken();
  }

  public void processSeen(int id, int tgid, int uid, String comm, String commandLine) {
    int slot = processSlots.of(id);
    ProcessEntry process =
        slot == Slots.NONE ? begin(processSlots.introduce(id)) : processes.get(slot);
    process.tgid = tgid;
    process.uid = uid;
    setCommandLine(process, commandLine);
    if (text > forgetAt) {
      forgetGone(process);
    }
    String service = ServiceName.of(comm, commandLine);
    if (process.runs(texts.intern(comm), texts.intern(service), commandLine)) {
      ancestry++;
    }
  }

  /** The process was started by that one; or that one is its image before the last exec. */
  public void parent(int id, int parentId) {
    ProcessEntry process = processes.get(processSlots.of(id));
    ProcessEntry parent = processes.get(processSlots.of(parentId));
    if (process != parent) {
      process.startedBy(parent);
      process.version++;
      // With its first child a command in a shell is an ancestor.
      parent.version++;
    }
  }

  /**
   * The process is in this control group from now on.
   *
   * @param path from the root; empty if it is not known
   */
  public void cgroup(int id, String path) {
    ProcessEntry process = processes.get(processSlots.of(id));
    String cgroup = path.isEmpty() ? ProcessEntry.NO_CGROUP : texts.intern(path);
    if (!cgroup.equals(process.cgroup)) {
      process.cgroup = cgroup;
      process.version++;
    }
  }

  private ProcessEntry begin(int slot) {
    ProcessEntry process = new ProcessEntry();
    if (slot == processes.size()) {
      processes.add(process);
    } else {
      processes.set(slot, process);
    }
    return process;
  }

  private void setCommandLine(ProcessEntry process, String line) {
    text += line.length() - process.commandLine.length();
    process.commandLine = line;
  }

  private void forgetGone(ProcessEntry but) {
    for (int slot = 0; slot < processes.size() && text > MOST_TEXT / 2; slot++) {
      ProcessEntry process = processes.get(slot);
      if (process.alive <= 0 && process != but) {
        setCommandLine(process, "");
      }
    }
    forgetAt = Math.max(MOST_TEXT, 2 * text);
  }

  public void taskSeen(int id, int processId, int tid, String comm) {
    while (tasks.size() <= id) {
      tasks.add(new Task(tasks.size()));
    }
    Task task = tasks.get(id);
    int slot = processSlots.of(processId);
    ProcessEntry process = processes.get(slot);
    task.ended = false;
    if (task.state != GONE) {
      leave(task);
      process.alive++;
    }
    process.gone = NEVER;
    task.tid = tid;
    task.process = slot;
    task.comm = texts.intern(comm);
    task.owner = NONE;
  }

  /** A stack of the task is in the library of a JVM: its process is one. */
  public void runsJvm(int id) {
    ProcessEntry process = processes.get(tasks.get(id).process);
    if (!process.isJvm) {
      process.isJvm = true;
      process.version++;
    }
  }

  /** The task is in this state now. */
  public void state(int id, State state) {
    state(id, state.number());
  }

  /** The task is gone. */
  public void gone(int id) {
    state(id, GONE);
  }

  private void state(int id, int now) {
    Task task = tasks.get(id);
    if (task.state == GONE && now != GONE) {
      ProcessEntry process = processes.get(task.process);
      process.alive++;
      process.gone = NEVER;
      task.livePlace = live.size();
      live.add(task);
    } else if (task.state != GONE && now == GONE) {
      Task last = live.remove(live.size() - 1);
      if (last != task) {
        live.set(task.livePlace, last);
        last.livePlace = task.livePlace;
      }
      leave(task);
    }
    if (now == GONE && !task.ended) {
      task.ended = true;
      ProcessEntry process = processes.get(task.process);
      if (process.alive <= 0) {
        process.gone = time;
      }
      forgetOwners(task);
    }
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

  /** These ids of the stream are given anew. */
  public void forget(IdSpace space, int[] ids) {
    for (int id : ids) {
      if (space == IdSpace.TASK) {
        gone(id);
        Task task = tasks.get(id);
        // A late sample may have made one since.
        forgetOwners(task);
        task.process = NONE;
        task.owner = NONE;
      } else {
        processSlots.forget(id);
      }
    }
  }

  /** Nothing new comes of a task that is gone: its owners need not be found again. */
  private void forgetOwners(Task task) {
    for (int at = task.newest; at != NONE; at = owners.get(at).before) {
      Owner owner = owners.get(at);
      owner.gone = time;
      known.remove(owner.key);
    }
    task.newest = NONE;
  }

  /** Owners that can be found by their key, groups included. */
  int known() {
    return known.size();
  }

  /** Who the time of a task belongs to now. */
  public int owner(int id) {
    Task task = tasks.get(id);
    ProcessEntry process = processes.get(task.process);
    if (task.owner == NONE || owners.get(task.owner).version != process.version + ancestry) {
      task.owner =
          intern(
              new Key(
                  id,
                  task.process,
                  task.comm,
                  process.comm,
                  process.service,
                  process.cgroup,
                  texts.intern(process.ancestor().name()),
                  kind(task, process)));
      owners.get(task.owner).version = process.version + ancestry;
    }
    return task.owner;
  }

  /**
   * Who stands for an owner in a time so long ago that it is not told apart any more: for a thread
   * that was gone before {@code before} the threads of its process, for a process that was the
   * processes of its name, in whatever control group; else the owner itself.
   */
  int older(int number, long before) {
    Owner owner = owners.get(number);
    Key key = owner.key;
    if (key.process == NONE || tgid(key.process) == NO_TGID) {
      return number;
    }
    ProcessEntry process = processes.get(key.process);
    if (process.gone < before) {
      ProcessEntry ancestor = process.ancestor();
      String below = ancestor.gone < before ? ancestor.oldName() : ancestor.name();
      Elders elder = new Elders(key.processComm, key.service, below, process.uid);
      Integer all = elders.get(elder);
      if (all == null) {
        all = processSlots.take();
        ProcessEntry stands = begin(all);
        stands.tgid = NO_TGID;
        stands.uid = elder.uid;
        stands.comm = elder.comm;
        stands.service = elder.service;
        stands.below = elder.ancestor;
        elders.put(elder, all);
      }
      return intern(
          new Key(NONE, all, elder.comm, elder.comm, elder.service, NOBODY, below, key.kind));
    }
    return owner.gone < before
        ? intern(
            new Key(
                NONE,
                key.process,
                NOBODY,
                key.processComm,
                key.service,
                key.cgroup,
                key.ancestor,
                key.kind))
        : number;
  }

  private int intern(Key key) {
    Integer found = known.get(key);
    if (found != null) {
      return found;
    }
    int number = ownerSlots.take();
    Owner owner = new Owner(key);
    if (number == owners.size()) {
      owners.add(owner);
    } else {
      owners.set(number, owner);
    }
    if (key.task != NONE) {
      Task task = tasks.get(key.task);
      owner.tid = task.tid;
      owner.before = task.newest;
      task.newest = number;
    }
    known.put(key, number);
    Key all =
        new Key(
            NONE,
            key.process,
            "",
            key.processComm,
            key.service,
            key.cgroup,
            key.ancestor,
            key.kind);
    Integer group = known.putIfAbsent(all, number);
    owner.group = group == null ? number : group;
    return number;
  }

  /** One owner for all threads of one kind of a process under one name and in one control group. */
  public int group(int owner) {
    return owners.get(owner).group;
  }

  /** Process of an owner; {@link #NONE} of {@link #OLDER}. */
  public int process(int owner) {
    return owners.get(owner).key.process;
  }

  /** Thread of an owner; {@link #NONE} if it stands for many. */
  public int tid(int owner) {
    return owners.get(owner).tid;
  }

  public String comm(int owner) {
    return owners.get(owner).key.comm;
  }

  public String processComm(int owner) {
    return owners.get(owner).key.processComm;
  }

  /**
   * The name of the process by the program that it runs; the comm where no rule has a better one.
   */
  public String service(int owner) {
    return owners.get(owner).key.service;
  }

  /** What the thread of an owner is for. */
  public ThreadKind kind(int owner) {
    return owners.get(owner).key.kind;
  }

  /** Whether the process is one of flametop's own. */
  public boolean isFlametop(int owner) {
    return service(owner).equals(ServiceName.FLAMETOP);
  }

  /** The process below which that of an owner stands, maybe itself: its name and its number. */
  public String ancestor(int owner) {
    return owners.get(owner).key.ancestor;
  }

  /**
   * Path of the control group of an owner's process, from the root; in brackets why there is none.
   */
  public String cgroup(int owner) {
    return owners.get(owner).key.cgroup;
  }

  /** Like {@link #cgroup}, of a process as it is now. */
  public String cgroupOfProcess(int process) {
    return processes.get(process).cgroup;
  }

  /** Whether an owner is kept there. */
  boolean has(int owner) {
    return ownerSlots.used(owner);
  }

  /** Tasks that are not gone; {@link #liveTask} names them. */
  int liveTasks() {
    return live.size();
  }

  /** The id of a task that is not gone; in no order. */
  int liveTask(int index) {
    return live.get(index).id;
  }

  /** State of a task that is not gone. */
  State stateOfTask(int task) {
    return State.of(tasks.get(task).state);
  }

  /** Where the process of this id of the stream is kept. */
  public int processOfId(int id) {
    return processSlots.of(id);
  }

  /** Where the process of a task is kept. */
  public int processOfTask(int task) {
    return tasks.get(task).process;
  }

  /** All processes are below. */
  public int processes() {
    return processSlots.count();
  }

  /** {@link #NO_TGID} of one that stands for many. */
  public int tgid(int process) {
    return processes.get(process).tgid;
  }

  public int uid(int process) {
    return processes.get(process).uid;
  }

  /** Whether any task of the process is still there. */
  public boolean lives(int process) {
    return processes.get(process).alive > 0;
  }

  public String commOfProcess(int process) {
    return processes.get(process).comm;
  }

  public String commandLine(int process) {
    return processes.get(process).commandLine;
  }

  public boolean admits(Shape shape, int owner) {
    if (owner == OLDER) {
      return shape.everybody();
    }
    Owner its = owners.get(owner);
    ProcessEntry process = processes.get(its.key.process);
    return shape.admits(
        process.tgid,
        its.tid,
        process.uid,
        its.key.comm,
        its.key.processComm,
        its.key.service,
        its.key.cgroup,
        its.key.ancestor,
        its.key.kind);
  }

  private boolean admits(Shape shape, Task task) {
    ProcessEntry process = processes.get(task.process);
    return shape.admits(
        process.tgid,
        task.tid,
        process.uid,
        task.comm,
        process.comm,
        process.service,
        process.cgroup,
        process.ancestor().name(),
        kind(task, process));
  }

  private static ThreadKind kind(Task task, ProcessEntry process) {
    return process.isJvm ? JvmThreads.kind(task.comm) : ThreadKind.PROGRAM;
  }

  /**
   * Frees owners and processes that nothing refers to any more.
   *
   * @param kept owners that somebody refers to; more are added here
   * @param freedOwners takes the owners
   * @param freedProcesses takes the processes
   */
  public void sweep(BitSet kept, IntConsumer freedOwners, IntConsumer freedProcesses) {
    kept.set(OLDER);
    BitSet keptProcesses = new BitSet(processSlots.count());
    for (Task task : tasks) {
      if (task.process != NONE) {
        keptProcesses.set(task.process);
        if (task.owner != NONE) {
          kept.set(task.owner);
        }
      }
    }
    for (int number = kept.nextSetBit(0); number >= 0; number = kept.nextSetBit(number + 1)) {
      Owner owner = owners.get(number);
      if (!kept.get(owner.group)) {
        kept.set(owner.group);
        // It may be below; its group is itself.
        keep(keptProcesses, process(owner.group));
      }
      keep(keptProcesses, owner.key.process);
    }
    for (Task task : tasks) {
      int after = NONE;
      for (int at = task.newest; at != NONE; at = owners.get(at).before) {
        int before = owners.get(at).before;
        if (kept.get(at)) {
          after = at;
        } else if (after == NONE) {
          task.newest = before;
        } else {
          owners.get(after).before = before;
        }
      }
    }
    known.values().removeIf(owner -> !kept.get(owner));
    ownerSlots.sweep(
        kept,
        owner -> {
          owners.set(owner, null);
          freedOwners.accept(owner);
        });
    processSlots.sweep(
        keptProcesses,
        slot -> {
          ProcessEntry process = processes.get(slot);
          elders.remove(
              new Elders(process.comm, process.service, process.below, process.uid), slot);
          setCommandLine(process, "");
          // Those that it started go on to stand below it.
          processes.set(slot, SWEPT);
          freedProcesses.accept(slot);
        });
  }

  private static void keep(BitSet processes, int process) {
    if (process != NONE) {
      processes.set(process);
    }
  }

  /** Tasks that are in a state now. */
  public int now(State state) {
    return nowByState[state.ordinal()];
  }

  /** Tasks now, by state, of those that the shape admits. */
  public int[] tasksByState(Shape shape) {
    if (shape.everybody()) {
      return nowByState.clone();
    }
    int[] counts = new int[State.values().length];
    for (Task task : live) {
      if (admits(shape, task)) {
        counts[State.of(task.state).ordinal()]++;
      }
    }
    return counts;
  }
}
