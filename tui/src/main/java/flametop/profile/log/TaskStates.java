package flametop.profile.log;

import flametop.sampler.State;
import java.util.BitSet;

/** The states of all tasks that lived at one moment. */
public final class TaskStates {
  private final long time;
  private final int[] owner;
  private final State[] state;
  private final long[] since;
  private final int[] stack;

  /**
   * The states at present.
   *
   * @param time ns
   */
  public TaskStates(Owners owners, Accounts accounts, long time) {
    this.time = time;
    int live = owners.tasks().living();
    owner = new int[live];
    state = new State[live];
    since = new long[live];
    stack = new int[live];
    for (int i = 0; i < live; i++) {
      int task = owners.tasks().live(i);
      owner[i] = owners.owner(task);
      state[i] = owners.tasks().state(task);
      since[i] = accounts.since(task);
      stack[i] = accounts.stack(task);
    }
  }

  /** How many there were. */
  public int count() {
    return owner.length;
  }

  /** Whose time a task's was. */
  public int owner(int task) {
    return owner[task];
  }

  public State state(int task) {
    return state[task];
  }

  /** How long it had been in that state, ns. */
  public long age(int task) {
    return Math.max(0, time - Math.min(time, since[task]));
  }

  /** The stack of a task, as {@link Accounts#stack} has it. */
  public int stack(int task) {
    return stack[task];
  }

  /** How many of each process were in each state; null for a process without any. */
  public int[][] byProcess(Owners owners) {
    int[][] counts = new int[owners.processes().slots()][];
    for (int task = 0; task < count(); task++) {
      int process = owners.process(owner[task]);
      if (counts[process] == null) {
        counts[process] = new int[State.values().length];
      }
      counts[process][state(task).ordinal()]++;
    }
    return counts;
  }

  /** Adds the owners and stacks that it refers to. */
  public void mark(BitSet owners, BitSet stacks) {
    for (int task = 0; task < count(); task++) {
      owners.set(owner[task]);
      Stacks.keep(stack[task], stacks);
    }
  }
}
