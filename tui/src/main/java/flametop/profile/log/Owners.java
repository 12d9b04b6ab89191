package flametop.profile.log;

import com.github.benmanes.caffeine.cache.Interner;
import flametop.profile.answer.Shape;
import flametop.profile.tree.Slots;
import flametop.sampler.IdSpace;
import flametop.sampler.State;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntConsumer;

/**
 * Processes, tasks, and owners: who time belongs to. A process is one generation of a tgid, and is
 * named by its slot outside of here; a task is named by its id of the stream. An owner is a task in
 * one process under one pair of comms and in one control group, so that what was logged keeps its
 * names when a task executes, is renamed or is moved.
 *
 * <p>Two kinds of owner stand for what is {@link #older old}: one for the threads of a process that
 * are gone, one for the processes of a comm that are gone.
 */
public final class Owners {
  // A record's own equals and hashCode are made when they are first used, which takes 20 ms.

  private record Key(int task, int process, String comm, String processComm, String cgroup) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key
          && task == key.task
          && process == key.process
          && comm.equals(key.comm)
          && processComm.equals(key.processComm)
          && Objects.equals(cgroup, key.cgroup);
    }

    @Override
    public int hashCode() {
      int names = 31 * comm.hashCode() + processComm.hashCode();
      return 31 * (31 * (31 * task + process) + names) + Objects.hashCode(cgroup);
    }
  }

  private record Elders(String comm, int uid) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Elders elders && uid == elders.uid && comm.equals(elders.comm);
    }

    @Override
    public int hashCode() {
      return 31 * uid + comm.hashCode();
    }
  }

  public static final int NONE = -1;

  /** Owner of time so long ago that whose it was is not known any more; no filter admits it. */
  public static final int OLDER = 0;

  /** Of a process that stands for those of its comm that are gone. */
  public static final int NO_TGID = -1;

  private static final String NOBODY = "[older]";

  /** Control group of a process of which none is told; no path. */
  private static final String NO_CGROUP = "[no cgroup]";

  /** Of what is not gone. */
  private static final long NEVER = Long.MAX_VALUE;

  private final Slots processSlots = new Slots();
  private int[] tgid = new int[64];
  private int[] uid = new int[64];
  private int[] processVersion = new int[64];
  private int[] alive = new int[64];
  private long[] processGone = new long[64];
  private String[] processComm = new String[64];
  private String[] processCgroup = new String[64];
  private String[] commandLine = new String[64];

  private int tasks;
  private int[] tid = new int[256];
  private int[] taskProcess = new int[256];
  private int[] taskOwner = new int[256];

  /** The owner that was made last for a task; the ones before it are a list through ownerBefore. */
  private int[] taskNewest = new int[256];

  /** {@link State#number()}, or {@link #GONE}. */
  private short[] taskState = new short[256];

  private final BitSet taskEnded = new BitSet();
  private String[] taskComm = new String[256];

  /** Tasks that are not gone, in no order, and the place of each there. */
  private int[] live = new int[256];

  private int[] livePlace = new int[256];
  private int liveCount;

  private final int[] nowByState = new int[State.values().length];

  private final Slots ownerSlots = new Slots();
  private int[] ownerTask = new int[256];
  private int[] ownerTid = new int[256];
  private long[] ownerGone = new long[256];
  private int[] ownerProcess = new int[256];
  private int[] ownerVersion = new int[256];
  private int[] ownerGroup = new int[256];
  private int[] ownerBefore = new int[256];
  private String[] ownerComm = new String[256];
  private String[] ownerProcessComm = new String[256];
  private String[] ownerCgroup = new String[256];
  private final Map<Key, Integer> known = new HashMap<>();
  private final Map<Elders, Integer> elders = new HashMap<>();
  private long time = Long.MIN_VALUE;

  private static final short GONE = -1;

  /**
   * Characters of command lines that are kept; beyond it those of processes that are gone are
   * forgotten, the oldest first. A host that compiles has thousands of long ones a minute.
   */
  private static final int MOST_TEXT = 8 << 20;

  /** Comms and paths repeat from one short-lived task to the next. */
  private final Interner<String> texts = Interner.newWeakInterner();

  private long text;
  private long forgetAt = MOST_TEXT;

  public Owners() {
    intern(NONE, NONE, NOBODY, NOBODY, NOBODY);
  }

  /** What is told from now on is of this time, ns, or later. */
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
    int process = processSlots.of(id);
    if (process == Slots.NONE) {
      process = processSlots.introduce(id);
      begin(process);
    }
    this.tgid[process] = tgid;
    this.uid[process] = uid;
    setCommandLine(process, commandLine);
    if (text > forgetAt) {
      forgetGone(process);
    }
    if (!comm.equals(processComm[process])) {
      processComm[process] = texts.intern(comm);
      processVersion[process]++;
    }
  }

  /**
   * The process is in this control group from now on.
   *
   * @param path from the root; empty if it is not known
   */
  public void cgroup(int id, String path) {
    int process = processSlots.of(id);
    String cgroup = path.isEmpty() ? NO_CGROUP : texts.intern(path);
    if (!cgroup.equals(processCgroup[process])) {
      processCgroup[process] = cgroup;
      processVersion[process]++;
    }
  }

  private void begin(int process) {
    if (process >= this.tgid.length) {
      int length = Math.max(process + 1, 2 * this.tgid.length);
      this.tgid = Arrays.copyOf(this.tgid, length);
      this.uid = Arrays.copyOf(this.uid, length);
      processVersion = Arrays.copyOf(processVersion, length);
      alive = Arrays.copyOf(alive, length);
      processGone = Arrays.copyOf(processGone, length);
      processComm = Arrays.copyOf(processComm, length);
      processCgroup = Arrays.copyOf(processCgroup, length);
      this.commandLine = Arrays.copyOf(this.commandLine, length);
    }
    alive[process] = 0;
    processGone[process] = NEVER;
    processComm[process] = null;
    processCgroup[process] = NO_CGROUP;
  }

  private void setCommandLine(int process, String line) {
    String before = commandLine[process];
    text += line.length() - (before == null ? 0 : before.length());
    commandLine[process] = line;
  }

  private void forgetGone(int but) {
    for (int process = 0; process < processSlots.count() && text > MOST_TEXT / 2; process++) {
      if (processSlots.used(process) && alive[process] <= 0 && process != but) {
        setCommandLine(process, "");
      }
    }
    forgetAt = Math.max(MOST_TEXT, 2 * text);
  }

  public void taskSeen(int task, int processId, int tid, String comm) {
    int process = processSlots.of(processId);
    if (task >= this.tid.length) {
      int length = Math.max(task + 1, 2 * this.tid.length);
      this.tid = Arrays.copyOf(this.tid, length);
      taskProcess = Arrays.copyOf(taskProcess, length);
      taskOwner = Arrays.copyOf(taskOwner, length);
      taskNewest = Arrays.copyOf(taskNewest, length);
      taskState = Arrays.copyOf(taskState, length);
      taskComm = Arrays.copyOf(taskComm, length);
      live = Arrays.copyOf(live, length);
      livePlace = Arrays.copyOf(livePlace, length);
    }
    for (; tasks <= task; tasks++) {
      taskState[tasks] = GONE;
      taskNewest[tasks] = NONE;
      taskProcess[tasks] = NONE;
    }
    taskEnded.clear(task);
    if (taskState[task] != GONE) {
      leave(taskProcess[task]);
      alive[process]++;
    }
    processGone[process] = NEVER;
    this.tid[task] = tid;
    taskProcess[task] = process;
    taskComm[task] = texts.intern(comm);
    taskOwner[task] = NONE;
  }

  /** The task is in this state now; null: it is gone. */
  public void state(int task, State state) {
    short now = state == null ? GONE : (short) state.number();
    if (taskState[task] == GONE && now != GONE) {
      alive[taskProcess[task]]++;
      processGone[taskProcess[task]] = NEVER;
      livePlace[task] = liveCount;
      live[liveCount++] = task;
    } else if (taskState[task] != GONE && now == GONE) {
      int moved = live[--liveCount];
      live[livePlace[task]] = moved;
      livePlace[moved] = livePlace[task];
      leave(taskProcess[task]);
    }
    if (now == GONE && !taskEnded.get(task)) {
      taskEnded.set(task);
      if (alive[taskProcess[task]] <= 0) {
        processGone[taskProcess[task]] = time;
      }
      forgetOwners(task);
    }
    if (taskState[task] != GONE) {
      nowByState[State.of(taskState[task]).ordinal()]--;
    }
    if (now != GONE) {
      nowByState[State.of(now).ordinal()]++;
    }
    taskState[task] = now;
  }

  private void leave(int process) {
    if (--alive[process] <= 0) {
      processGone[process] = time;
    }
  }

  /** These ids of the stream are given anew. */
  public void forget(IdSpace space, int[] ids) {
    for (int id : ids) {
      if (space == IdSpace.TASK) {
        state(id, null);
        // A late sample may have made one since.
        forgetOwners(id);
        taskProcess[id] = NONE;
        taskOwner[id] = NONE;
      } else {
        processSlots.forget(id);
      }
    }
  }

  /** Nothing new comes of a task that is gone: its owners need not be found again. */
  private void forgetOwners(int task) {
    for (int owner = taskNewest[task]; owner != NONE; owner = ownerBefore[owner]) {
      ownerGone[owner] = time;
      known.remove(key(task, owner));
    }
    taskNewest[task] = NONE;
  }

  private Key key(int task, int owner) {
    return new Key(
        task, ownerProcess[owner], ownerComm[owner], ownerProcessComm[owner], ownerCgroup[owner]);
  }

  /** Owners that can be found by their key, groups included. */
  int known() {
    return known.size();
  }

  /** Who the time of a task belongs to now. */
  int owner(int task) {
    int process = taskProcess[task];
    int owner = taskOwner[task];
    if (owner == NONE || ownerVersion[owner] != processVersion[process]) {
      owner = intern(task, process, taskComm[task], processComm[process], processCgroup[process]);
      ownerVersion[owner] = processVersion[process];
      taskOwner[task] = owner;
    }
    return owner;
  }

  /**
   * Who stands for an owner in a time so long ago that it is not told apart any more: for a thread
   * that was gone before {@code before} the threads of its process, for a process that was the
   * processes of its comm, in whatever control group; else the owner itself.
   */
  int older(int owner, long before) {
    int process = ownerProcess[owner];
    if (process == NONE || tgid[process] == NO_TGID) {
      return owner;
    }
    if (processGone[process] < before) {
      String comm = ownerProcessComm[owner];
      Elders key = new Elders(comm, uid[process]);
      Integer all = elders.get(key);
      if (all == null) {
        all = processSlots.take();
        begin(all);
        tgid[all] = NO_TGID;
        uid[all] = key.uid;
        setCommandLine(all, "");
        processComm[all] = comm;
        elders.put(key, all);
      }
      return intern(NONE, all, comm, comm, NOBODY);
    }
    return ownerGone[owner] < before
        ? intern(NONE, process, NOBODY, ownerProcessComm[owner], ownerCgroup[owner])
        : owner;
  }

  private int intern(int task, int process, String comm, String processComm, String cgroup) {
    Key key = new Key(task, process, comm, processComm, cgroup);
    Integer found = known.get(key);
    if (found != null) {
      return found;
    }
    int owner = ownerSlots.take();
    if (owner == ownerTask.length) {
      ownerTask = Arrays.copyOf(ownerTask, 2 * owner);
      ownerTid = Arrays.copyOf(ownerTid, 2 * owner);
      ownerGone = Arrays.copyOf(ownerGone, 2 * owner);
      ownerProcess = Arrays.copyOf(ownerProcess, 2 * owner);
      ownerVersion = Arrays.copyOf(ownerVersion, 2 * owner);
      ownerGroup = Arrays.copyOf(ownerGroup, 2 * owner);
      ownerBefore = Arrays.copyOf(ownerBefore, 2 * owner);
      ownerComm = Arrays.copyOf(ownerComm, 2 * owner);
      ownerProcessComm = Arrays.copyOf(ownerProcessComm, 2 * owner);
      ownerCgroup = Arrays.copyOf(ownerCgroup, 2 * owner);
    }
    ownerTask[owner] = task;
    ownerTid[owner] = task == NONE ? NONE : tid[task];
    ownerGone[owner] = NEVER;
    if (task != NONE) {
      ownerBefore[owner] = taskNewest[task];
      taskNewest[task] = owner;
    }
    ownerProcess[owner] = process;
    ownerComm[owner] = comm;
    ownerProcessComm[owner] = processComm;
    ownerCgroup[owner] = cgroup;
    known.put(key, owner);
    Integer group = known.putIfAbsent(new Key(NONE, process, "", processComm, cgroup), owner);
    ownerGroup[owner] = group == null ? owner : group;
    return owner;
  }

  /** One owner for all of a process under one comm and in one control group. */
  public int group(int owner) {
    return ownerGroup[owner];
  }

  /** Process of an owner; {@link #NONE} of {@link #OLDER}. */
  public int process(int owner) {
    return ownerProcess[owner];
  }

  /** Thread of an owner; {@link #NONE} if it stands for many. */
  public int tid(int owner) {
    return ownerTid[owner];
  }

  public String comm(int owner) {
    return ownerComm[owner];
  }

  public String processComm(int owner) {
    return ownerProcessComm[owner];
  }

  /**
   * Path of the control group of an owner's process, from the root; in brackets why there is none.
   */
  public String cgroup(int owner) {
    return ownerCgroup[owner];
  }

  /** That of a process, as it is now; null: not known yet. */
  public String cgroupOfProcess(int process) {
    return processCgroup[process];
  }

  /** Whether an owner is kept there. */
  boolean has(int owner) {
    return ownerSlots.used(owner);
  }

  /** Tasks that are not gone; {@link #liveTask} names them. */
  int liveTasks() {
    return liveCount;
  }

  /** The id of a task that is not gone; in no order. */
  int liveTask(int index) {
    return live[index];
  }

  /** State of a task that is not gone. */
  State stateOfTask(int task) {
    return State.of(taskState[task]);
  }

  /** Where the process of this id of the stream is kept. */
  public int processOfId(int id) {
    return processSlots.of(id);
  }

  /** Where the process of a task is kept. */
  public int processOfTask(int task) {
    return taskProcess[task];
  }

  /** All processes are below. */
  public int processes() {
    return processSlots.count();
  }

  /** {@link #NO_TGID} of one that stands for many. */
  public int tgid(int process) {
    return tgid[process];
  }

  public int uid(int process) {
    return uid[process];
  }

  public String commOfProcess(int process) {
    return processComm[process];
  }

  public String commandLine(int process) {
    return commandLine[process];
  }

  public boolean admits(Shape shape, int owner) {
    if (owner == OLDER) {
      return shape.everybody();
    }
    int process = ownerProcess[owner];
    return shape.admits(
        tgid[process],
        ownerTid[owner],
        uid[process],
        ownerComm[owner],
        ownerProcessComm[owner],
        ownerCgroup[owner]);
  }

  private boolean admitsTask(Shape shape, int task) {
    int process = taskProcess[task];
    return shape.admits(
        tgid[process],
        tid[task],
        uid[process],
        taskComm[task],
        processComm[process],
        processCgroup[process]);
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
    for (int task = 0; task < tasks; task++) {
      if (taskProcess[task] != NONE) {
        keptProcesses.set(taskProcess[task]);
        if (taskOwner[task] != NONE) {
          kept.set(taskOwner[task]);
        }
      }
    }
    for (int owner = kept.nextSetBit(0); owner >= 0; owner = kept.nextSetBit(owner + 1)) {
      if (!kept.get(ownerGroup[owner])) {
        kept.set(ownerGroup[owner]);
        // It may be below; its group is itself.
        keep(keptProcesses, ownerProcess[ownerGroup[owner]]);
      }
      keep(keptProcesses, ownerProcess[owner]);
    }
    for (int task = 0; task < tasks; task++) {
      int after = NONE;
      for (int owner = taskNewest[task]; owner != NONE; owner = ownerBefore[owner]) {
        if (kept.get(owner)) {
          after = owner;
        } else if (after == NONE) {
          taskNewest[task] = ownerBefore[owner];
        } else {
          ownerBefore[after] = ownerBefore[owner];
        }
      }
    }
    known.values().removeIf(owner -> !kept.get(owner));
    ownerSlots.sweep(
        kept,
        owner -> {
          ownerComm[owner] = null;
          ownerProcessComm[owner] = null;
          ownerCgroup[owner] = null;
          freedOwners.accept(owner);
        });
    processSlots.sweep(
        keptProcesses,
        process -> {
          elders.remove(new Elders(processComm[process], uid[process]), process);
          setCommandLine(process, "");
          processComm[process] = null;
          processCgroup[process] = null;
          freedProcesses.accept(process);
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
    for (int i = 0; i < liveCount; i++) {
      int task = live[i];
      if (admitsTask(shape, task)) {
        counts[State.of(taskState[task]).ordinal()]++;
      }
    }
    return counts;
  }
}
