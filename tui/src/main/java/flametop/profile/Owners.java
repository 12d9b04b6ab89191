package flametop.profile;

import com.github.benmanes.caffeine.cache.Interner;
import flametop.sampler.State;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;

/**
 * Processes, tasks, and owners: who time belongs to. A process is one generation of a tgid; ids are
 * those of the stream. An owner is a task in one process under one pair of comms, so that what was
 * logged keeps its names when a task executes or is renamed.
 */
final class Owners {
  private record Key(int task, int process, String comm, String processComm) {}

  static final int NONE = -1;

  /** Owner of time so long ago that whose it was is not known any more; no filter admits it. */
  static final int OLDER = 0;

  private int processes;
  private int[] tgid = new int[64];
  private int[] uid = new int[64];
  private int[] processVersion = new int[64];
  private int[] alive = new int[64];
  private String[] processComm = new String[64];
  private String[] commandLine = new String[64];

  private int tasks;
  private int[] tid = new int[256];
  private int[] taskProcess = new int[256];
  private int[] taskOwner = new int[256];

  /** The owner that was made last for a task; the ones before it are a list through ownerBefore. */
  private int[] taskNewest = new int[256];

  private byte[] taskState = new byte[256];
  private String[] taskComm = new String[256];

  /** Tasks that are not gone, in no order, and the place of each there. */
  private int[] live = new int[256];

  private int[] livePlace = new int[256];
  private int liveCount;

  private final int[] nowByState = new int[State.values().length];

  private int owners;
  private int[] ownerTask = new int[256];
  private int[] ownerProcess = new int[256];
  private int[] ownerVersion = new int[256];
  private int[] ownerGroup = new int[256];
  private int[] ownerBefore = new int[256];
  private String[] ownerComm = new String[256];
  private String[] ownerProcessComm = new String[256];
  private final Map<Key, Integer> known = new HashMap<>();

  private static final byte GONE = -1;

  /**
   * Characters of command lines that are kept; beyond it those of processes that are gone are
   * forgotten, the oldest first. A host that compiles has thousands of long ones a minute.
   */
  private static final int MOST_TEXT = 8 << 20;

  /** Names repeat from one short-lived task to the next. */
  private final Interner<String> comms = Interner.newWeakInterner();

  private long text;
  private long forgetAt = MOST_TEXT;

  Owners() {
    intern(NONE, NONE, "[older]", "[older]");
  }

  void processSeen(int process, int tgid, int uid, String comm, String commandLine) {
    if (process >= this.tgid.length) {
      int length = Math.max(process + 1, 2 * this.tgid.length);
      this.tgid = Arrays.copyOf(this.tgid, length);
      this.uid = Arrays.copyOf(this.uid, length);
      processVersion = Arrays.copyOf(processVersion, length);
      alive = Arrays.copyOf(alive, length);
      processComm = Arrays.copyOf(processComm, length);
      this.commandLine = Arrays.copyOf(this.commandLine, length);
    }
    processes = Math.max(processes, process + 1);
    this.tgid[process] = tgid;
    this.uid[process] = uid;
    setCommandLine(process, commandLine);
    if (text > forgetAt) {
      forgetGone(process);
    }
    if (!comm.equals(processComm[process])) {
      processComm[process] = comms.intern(comm);
      processVersion[process]++;
    }
  }

  private void setCommandLine(int process, String line) {
    String before = commandLine[process];
    text += line.length() - (before == null ? 0 : before.length());
    commandLine[process] = line;
  }

  private void forgetGone(int but) {
    for (int process = 0; process < processes && text > MOST_TEXT / 2; process++) {
      if (alive[process] <= 0 && process != but) {
        setCommandLine(process, "");
      }
    }
    forgetAt = Math.max(MOST_TEXT, 2 * text);
  }

  void taskSeen(int task, int process, int tid, String comm) {
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
    }
    if (taskState[task] != GONE) {
      alive[taskProcess[task]]--;
      alive[process]++;
    }
    this.tid[task] = tid;
    taskProcess[task] = process;
    taskComm[task] = comms.intern(comm);
    taskOwner[task] = NONE;
  }

  /** The task is in this state now; null: it is gone. */
  void state(int task, State state) {
    byte now = state == null ? GONE : (byte) state.ordinal();
    if (taskState[task] == GONE && now != GONE) {
      alive[taskProcess[task]]++;
      livePlace[task] = liveCount;
      live[liveCount++] = task;
    } else if (taskState[task] != GONE && now == GONE) {
      alive[taskProcess[task]]--;
      int moved = live[--liveCount];
      live[livePlace[task]] = moved;
      livePlace[moved] = livePlace[task];
      forgetOwners(task);
    }
    if (taskState[task] != GONE) {
      nowByState[taskState[task]]--;
    }
    if (now != GONE) {
      nowByState[now]++;
    }
    taskState[task] = now;
  }

  /** Nothing new comes of a task that is gone: its owners need not be found again. */
  private void forgetOwners(int task) {
    for (int owner = taskNewest[task]; owner != NONE; owner = ownerBefore[owner]) {
      known.remove(new Key(task, ownerProcess[owner], ownerComm[owner], ownerProcessComm[owner]));
    }
    taskNewest[task] = NONE;
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
      owner = intern(task, process, taskComm[task], processComm[process]);
      ownerVersion[owner] = processVersion[process];
      taskOwner[task] = owner;
    }
    return owner;
  }

  private int intern(int task, int process, String comm, String processComm) {
    Key key = new Key(task, process, comm, processComm);
    Integer found = known.get(key);
    if (found != null) {
      return found;
    }
    int owner = owners++;
    if (owner == ownerTask.length) {
      ownerTask = Arrays.copyOf(ownerTask, 2 * owner);
      ownerProcess = Arrays.copyOf(ownerProcess, 2 * owner);
      ownerVersion = Arrays.copyOf(ownerVersion, 2 * owner);
      ownerGroup = Arrays.copyOf(ownerGroup, 2 * owner);
      ownerBefore = Arrays.copyOf(ownerBefore, 2 * owner);
      ownerComm = Arrays.copyOf(ownerComm, 2 * owner);
      ownerProcessComm = Arrays.copyOf(ownerProcessComm, 2 * owner);
    }
    ownerTask[owner] = task;
    if (task != NONE) {
      ownerBefore[owner] = taskNewest[task];
      taskNewest[task] = owner;
    }
    ownerProcess[owner] = process;
    ownerComm[owner] = comm;
    ownerProcessComm[owner] = processComm;
    known.put(key, owner);
    Integer group = known.putIfAbsent(new Key(NONE, process, "", processComm), owner);
    ownerGroup[owner] = group == null ? owner : group;
    return owner;
  }

  /** One owner for all of a process under one comm. */
  int group(int owner) {
    return ownerGroup[owner];
  }

  /** Process of an owner; {@link #NONE} of {@link #OLDER}. */
  int process(int owner) {
    return ownerProcess[owner];
  }

  int tid(int owner) {
    return tid[ownerTask[owner]];
  }

  String comm(int owner) {
    return ownerComm[owner];
  }

  String processComm(int owner) {
    return ownerProcessComm[owner];
  }

  int processOfTask(int task) {
    return taskProcess[task];
  }

  int processes() {
    return processes;
  }

  int tgid(int process) {
    return tgid[process];
  }

  int uid(int process) {
    return uid[process];
  }

  boolean alive(int process) {
    return alive[process] > 0;
  }

  String commOfProcess(int process) {
    return processComm[process];
  }

  String commandLine(int process) {
    return commandLine[process];
  }

  boolean admits(TaskFilter filter, int owner) {
    return owner != OLDER
        && admits(filter, ownerProcess[owner], ownerComm[owner], ownerProcessComm[owner]);
  }

  private boolean admits(TaskFilter filter, int process, String comm, String processComm) {
    return (filter.tgids().isEmpty() || filter.tgids().contains(tgid[process]))
        && (filter.comms().isEmpty()
            || filter.comms().contains(comm)
            || filter.comms().contains(processComm))
        && (filter.uids().isEmpty() || filter.uids().contains(uid[process]));
  }

  /** Forgets the texts of processes that are gone and have no time in the trie. */
  void forgetAllBut(Trie trie) {
    BitSet kept = new BitSet(processes);
    for (int entry = 0; entry < trie.entries(); entry++) {
      int process = ownerProcess[trie.owner(entry)];
      if (process != NONE) {
        kept.set(process);
      }
    }
    for (int process = 0; process < processes; process++) {
      if (alive[process] > 0) {
        kept.set(process);
      } else if (!kept.get(process)) {
        setCommandLine(process, "");
      }
    }
    known.keySet().removeIf(key -> key.process != NONE && !kept.get(key.process));
  }

  /** Tasks that are in a state now. */
  int now(State state) {
    return nowByState[state.ordinal()];
  }

  /** Tasks now, by state, of those that the filter admits. */
  int[] tasksByState(TaskFilter filter) {
    int[] counts = new int[State.values().length];
    for (int i = 0; i < liveCount; i++) {
      int task = live[i];
      int process = taskProcess[task];
      if (admits(filter, process, taskComm[task], processComm[process])) {
        counts[taskState[task]]++;
      }
    }
    return counts;
  }

  /** Tasks now, by process and state. */
  int[][] tasksByProcess() {
    int[][] counts = new int[processes][];
    for (int i = 0; i < liveCount; i++) {
      int process = taskProcess[live[i]];
      if (counts[process] == null) {
        counts[process] = new int[State.values().length];
      }
      counts[process][taskState[live[i]]]++;
    }
    return counts;
  }
}
