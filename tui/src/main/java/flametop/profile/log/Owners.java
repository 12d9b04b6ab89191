package flametop.profile.log;

import com.github.benmanes.caffeine.cache.Interner;
import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.Shape;
import flametop.profile.log.Tasks.Task;
import flametop.profile.tree.Slots;
import flametop.sampler.IdSpace;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;

/**
 * Owners, to whom time belongs. An owner is a task in one process under one comm and one name of
 * its service, in one control group and below one ancestor, of one {@link ThreadKind}, so that what
 * was logged keeps its names when a task executes, is renamed or is moved.
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
    /** Of all threads of that kind. */
    Key ofMany(String theirComm) {
      return new Key(NONE, process, theirComm, processComm, service, cgroup, ancestor, kind);
    }

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

  public static final int NONE = -1;

  /** Owner of time so long ago that whose it was is not known any more; no filter admits it. */
  public static final int OLDER = 0;

  private static final String NOBODY = "[older]";

  /** The time at which a living process or task is gone. */
  static final long NEVER = Long.MAX_VALUE;

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

  private final Processes processes;
  private final Tasks tasks;
  private final Interner<String> texts = Interner.newWeakInterner();
  private final Slots slots = new Slots();
  private final List<Owner> owners = new ArrayList<>();
  private final Map<Key, Integer> known = new HashMap<>();

  public Owners() {
    processes = new Processes(texts);
    tasks = new Tasks(processes, texts);
    intern(new Key(NONE, NONE, NOBODY, NOBODY, NOBODY, NOBODY, NOBODY, ThreadKind.PROGRAM));
  }

  /** The processes of all owners. */
  public Processes processes() {
    return processes;
  }

  /** The tasks of all owners. */
  public Tasks tasks() {
    return tasks;
  }

  /** Owners and processes that are kept. */
  public int size() {
    return slots.size() + processes.size();
  }

  /** Memory that they take, about. */
  public long bytes() {
    return 150L * size();
  }

  /** How many there ever were. */
  public long made() {
    return slots.taken() + processes.made();
  }

  /** The task is gone. */
  public void gone(int id) {
    Task task = tasks.get(id);
    if (tasks.gone(task)) {
      forgetOwners(task);
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
        processes.forget(id);
      }
    }
  }

  /** Nothing new comes of a task that is gone: its owners need not be found again. */
  private void forgetOwners(Task task) {
    for (int at = task.newest; at != NONE; at = owners.get(at).before) {
      Owner owner = owners.get(at);
      owner.gone = tasks.time();
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
    if (task.owner == NONE || owners.get(task.owner).version != processes.version(process)) {
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
                  Tasks.kind(task, process)));
      owners.get(task.owner).version = processes.version(process);
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
    if (key.process == NONE || processes.tgid(key.process) == Processes.NO_TGID) {
      return number;
    }
    ProcessEntry process = processes.get(key.process);
    if (process.gone < before) {
      ProcessEntry ancestor = process.ancestor();
      String below = ancestor.gone < before ? ancestor.oldName() : ancestor.name();
      int all = processes.elder(key.processComm, key.service, below, process.uid);
      return intern(
          new Key(
              NONE, all, key.processComm, key.processComm, key.service, NOBODY, below, key.kind));
    }
    return owner.gone < before ? intern(key.ofMany(NOBODY)) : number;
  }

  private int intern(Key key) {
    Integer found = known.get(key);
    if (found != null) {
      return found;
    }
    int number = slots.take();
    Owner owner = new Owner(key);
    Slots.put(owners, number, owner);
    if (key.task != NONE) {
      Task task = tasks.get(key.task);
      owner.tid = task.tid;
      owner.before = task.newest;
      task.newest = number;
    }
    known.put(key, number);
    Integer group = known.putIfAbsent(key.ofMany(""), number);
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

  /**
   * Frees owners and processes that nothing refers to any more.
   *
   * @param kept owners that somebody refers to; more are added here
   * @param freedOwners takes the owners
   * @param freedProcesses takes the processes
   */
  public void sweep(BitSet kept, IntConsumer freedOwners, IntConsumer freedProcesses) {
    kept.set(OLDER);
    BitSet keptProcesses = new BitSet(processes.slots());
    for (Task task : tasks.all()) {
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
    for (Task task : tasks.all()) {
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
    slots.sweep(
        kept,
        owner -> {
          owners.set(owner, null);
          freedOwners.accept(owner);
        });
    processes.sweep(keptProcesses, freedProcesses);
  }

  private static void keep(BitSet processes, int process) {
    if (process != NONE) {
      processes.set(process);
    }
  }
}
