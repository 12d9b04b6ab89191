package flametop.profile.log;

import com.github.benmanes.caffeine.cache.Interner;
import flametop.profile.tree.Slots;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * Processes: generations of a tgid, each in a slot by which other classes know it. Further slots
 * stand for the processes of one name that are gone.
 */
public final class Processes {
  /** The tgid of a process that stands for all processes of its name that are gone. */
  public static final int NO_TGID = -1;

  /** In place of a process that was swept. */
  private static final ProcessEntry SWEPT = new ProcessEntry();

  /**
   * Characters of command lines that are kept; beyond so many, command lines of processes that are
   * gone are forgotten, the oldest first. A host that compiles has thousands of long ones a minute.
   */
  private static final int MOST_TEXT = 8 << 20;

  private final Slots slots = new Slots();
  private final List<ProcessEntry> processes = new ArrayList<>();

  /** Slots that stand for many, by what these have in common. */
  private final Map<List<Object>, Integer> elders = new HashMap<>();

  /** Comms and paths repeat from one short-lived task to the next. */
  private final Interner<String> texts;

  /** Differs from before where the ancestor of any process may have another name. */
  private int ancestry;

  private long text;
  private long forgetAt = MOST_TEXT;

  Processes(Interner<String> texts) {
    this.texts = texts;
  }

  /** Processes that are kept. */
  int size() {
    return slots.size();
  }

  /** How many there ever were. */
  long made() {
    return slots.taken();
  }

  /** All slots are below. */
  public int slots() {
    return slots.count();
  }

  /** The slot of the process of this id of the stream. */
  public int slot(int id) {
    return slots.of(id);
  }

  /** The process in a slot. */
  ProcessEntry get(int slot) {
    return processes.get(slot);
  }

  public void seen(int id, int tgid, int uid, String comm, String commandLine) {
    int slot = slots.of(id);
    ProcessEntry process = slot == Slots.NONE ? begin(slots.introduce(id)) : get(slot);
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
    ProcessEntry process = get(slots.of(id));
    ProcessEntry parent = get(slots.of(parentId));
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
    ProcessEntry process = get(slots.of(id));
    String cgroup = path.isEmpty() ? ProcessEntry.NO_CGROUP : texts.intern(path);
    if (!cgroup.equals(process.cgroup)) {
      process.cgroup = cgroup;
      process.version++;
    }
  }

  private ProcessEntry begin(int slot) {
    ProcessEntry process = new ProcessEntry();
    Slots.put(processes, slot, process);
    return process;
  }

  private void setCommandLine(ProcessEntry process, String line) {
    text += line.length() - process.commandLine.length();
    process.commandLine = line;
  }

  private void forgetGone(ProcessEntry but) {
    for (int slot = 0; slot < processes.size() && text > MOST_TEXT / 2; slot++) {
      ProcessEntry process = get(slot);
      if (process.alive <= 0 && process != but) {
        setCommandLine(process, "");
      }
    }
    forgetAt = Math.max(MOST_TEXT, 2 * text);
  }

  /** This id of the stream is given anew. */
  void forget(int id) {
    slots.forget(id);
  }

  /** Differs from before where the process has other names, another group or another ancestor. */
  int version(ProcessEntry process) {
    return process.version + ancestry;
  }

  /**
   * The slot that stands for the processes of one name that are gone.
   *
   * @param below the name of their ancestor
   */
  int elder(String comm, String service, String below, int uid) {
    List<Object> key = List.of(comm, service, below, uid);
    Integer all = elders.get(key);
    if (all == null) {
      all = slots.take();
      ProcessEntry stands = begin(all);
      stands.tgid = NO_TGID;
      stands.uid = uid;
      stands.comm = comm;
      stands.service = service;
      stands.below = below;
      elders.put(key, all);
    }
    return all;
  }

  /** Frees all slots but those that are kept. */
  void sweep(BitSet kept, IntConsumer freed) {
    slots.sweep(
        kept,
        slot -> {
          ProcessEntry process = get(slot);
          elders.remove(List.of(process.comm, process.service, process.below, process.uid), slot);
          setCommandLine(process, "");
          // Those that it started go on to stand below it.
          processes.set(slot, SWEPT);
          freed.accept(slot);
        });
  }

  /** {@link #NO_TGID} of one that stands for many. */
  public int tgid(int slot) {
    return get(slot).tgid;
  }

  public int uid(int slot) {
    return get(slot).uid;
  }

  /** Whether any task of the process is still there. */
  public boolean lives(int slot) {
    return get(slot).alive > 0;
  }

  public String comm(int slot) {
    return get(slot).comm;
  }

  public String commandLine(int slot) {
    return get(slot).commandLine;
  }

  /**
   * Path of the control group of a process as it is now, from the root; in brackets why there is
   * none.
   */
  public String cgroup(int slot) {
    return get(slot).cgroup;
  }
}
