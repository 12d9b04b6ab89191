package flametop.profile;

import flametop.sampler.State;
import java.util.BitSet;

/** What the tasks that were not gone at one moment did then. */
final class TaskStates {
  private static final State[] STATES = State.values();

  private final long time;
  private final int count;
  private final int[] owner;
  private final byte[] state;
  private final long[] since;
  private final int[] stack;

  /**
   * Of the present.
   *
   * @param time ns
   */
  TaskStates(Owners owners, Accounts accounts, long time) {
    this.time = time;
    int live = owners.liveTasks();
    owner = new int[live];
    state = new byte[live];
    since = new long[live];
    stack = new int[live];
    int at = 0;
    for (int i = 0; i < live; i++) {
      int task = owners.liveTask(i);
      State now = owners.stateOfTask(task);
      if (now != State.IDLE_KTHREAD) {
        owner[at] = owners.owner(task);
        state[at] = (byte) now.ordinal();
        since[at] = accounts.since(task);
        stack[at] = accounts.stack(task);
        at++;
      }
    }
    count = at;
  }

  /** The moment, ns. */
  long time() {
    return time;
  }

  /** How many there were, idle kernel threads left out. */
  int count() {
    return count;
  }

  /** Whose time a task's was. */
  int owner(int task) {
    return owner[task];
  }

  State state(int task) {
    return STATES[state[task]];
  }

  /** How long it had been in that state, ns. */
  long age(int task) {
    return Math.max(0, time - Math.min(time, since[task]));
  }

  /** As {@link Accounts#stack}. */
  int stack(int task) {
    return stack[task];
  }

  /** Adds the owners and stacks that it refers to. */
  void mark(BitSet owners, BitSet stacks) {
    for (int task = 0; task < count; task++) {
      owners.set(owner[task]);
      // What is no stack is below zero.
      if (stack[task] >= 0) {
        stacks.set(stack[task]);
      }
    }
  }
}
