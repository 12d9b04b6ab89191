package flametop.profile;

import flametop.sampler.State;
import java.util.Arrays;

/**
 * The time of every task: exact by the kernel's sums, placed on stacks by samples.
 *
 * <p>Between two sights of a task, time on a CPU (RUN) is what its run sum grew by, and time in the
 * run queue (QUEUED) what its wait sum did; the rest is off the CPU. So the three add up to the
 * wall clock, whatever was seen.
 *
 * <ul>
 *   <li>RUN, and QUEUED that no pass saw, wait as {@link Stacks#NOT_SAMPLED}; the next sample of
 *       the CPU clock moves them to its stack, the end of the task to the stack sampled last. A
 *       running task has no open interval.
 *   <li>Off-CPU time goes to the stack seen now if the task is off the CPU, whose interval then
 *       began at {@code now − off} while the one before ended at the previous pass; else to the
 *       stack seen at the previous pass; else it stays not sampled.
 *   <li>Seen in the run queue: open on the stack it waits with; when the wait sum moves, what was
 *       shown already is taken off it.
 *   <li>The sums lag behind the clock by up to a tick. A rest below zero is carried over. A rest
 *       without a voluntary switch is no sleep: up to a tick of it is carried over as well, since
 *       it may be such a lag; what is above is {@link Stacks#STOLEN}.
 * </ul>
 */
final class Accounts {
  /** The longest tick of a kernel (CONFIG_HZ=100), ns. */
  static final long TICK_NANOS = 10_000_000;

  private static final int NO_INTERVAL = Integer.MIN_VALUE;

  /** Switches of a task that ended: it may have slept before. */
  private static final long ENDED = -1;

  private static final int RUN = State.RUN.ordinal();
  private static final int QUEUED = State.QUEUED.ordinal();
  private static final int SLEEP = State.SLEEP.ordinal();

  private final ChangeLog log;
  private final Owners owners;

  private int tasks;
  private boolean[] known = new boolean[256];
  private boolean[] begun = new boolean[256];
  private long[] time = new long[256];
  private long[] run = new long[256];
  private long[] wait = new long[256];
  private long[] switches = new long[256];
  private long[] carry = new long[256];
  private long[] waitingRun = new long[256];
  private long[] waitingQueued = new long[256];
  private int[] owner = new int[256];
  private int[] openStack = new int[256];
  private byte[] openState = new byte[256];
  private int[] sampledStack = new int[256];

  private long passes;
  private long previousPass = Long.MIN_VALUE;
  private boolean waitCounted;
  private long waitedSince;
  private long ran;
  private long waited;

  Accounts(ChangeLog log, Owners owners) {
    this.log = log;
    this.owners = owners;
  }

  /** Passes completed. */
  long passes() {
    return passes;
  }

  /** A pass is complete: every task without a change was found as it was. */
  void passEnds(long passTime) {
    passes++;
    previousPass = passTime;
  }

  /**
   * The log was begun anew: what is open goes on in it, what waits for a sample belonged to the
   * time before.
   */
  void restart() {
    for (int task = 0; task < tasks; task++) {
      waitingRun[task] = 0;
      waitingQueued[task] = 0;
      if (begun[task] && openStack[task] != NO_INTERVAL) {
        long from = openState[task] == QUEUED ? time[task] : Math.max(time[task], previousPass);
        log.opened(owner[task], openStack[task], openState[task], from, passes);
      }
    }
  }

  /**
   * The task exists; its account begins at {@code start} if all its sums are ours, else at first
   * sight.
   */
  void taskSeen(int task, long start, boolean fresh) {
    if (task >= known.length) {
      int length = Math.max(task + 1, 2 * known.length);
      known = Arrays.copyOf(known, length);
      begun = Arrays.copyOf(begun, length);
      time = Arrays.copyOf(time, length);
      run = Arrays.copyOf(run, length);
      wait = Arrays.copyOf(wait, length);
      switches = Arrays.copyOf(switches, length);
      carry = Arrays.copyOf(carry, length);
      waitingRun = Arrays.copyOf(waitingRun, length);
      waitingQueued = Arrays.copyOf(waitingQueued, length);
      owner = Arrays.copyOf(owner, length);
      openStack = Arrays.copyOf(openStack, length);
      openState = Arrays.copyOf(openState, length);
      sampledStack = Arrays.copyOf(sampledStack, length);
    }
    tasks = Math.max(tasks, task + 1);
    if (!known[task]) {
      known[task] = true;
      sampledStack[task] = NO_INTERVAL;
      openStack[task] = NO_INTERVAL;
      if (fresh) {
        begin(task, start, 0, 0, 0);
      }
    }
  }

  private void begin(int task, long start, long runSum, long waitSum, long switchSum) {
    begun[task] = true;
    time[task] = start;
    run[task] = runSum;
    wait[task] = waitSum;
    switches[task] = switchSum;
    carry[task] = 0;
    owner[task] = owners.owner(task);
  }

  /** A pass saw the task; {@code stack} is meant only off the CPU. */
  void changed(
      int task, long now, State state, int stack, long runSum, long waitSum, long switchSum) {
    boolean off = state != State.RUN && state != State.QUEUED;
    if (!begun[task]) {
      begin(task, now, runSum, waitSum, switchSum);
    } else if (now < time[task]
        || state != State.RUN
            && openStack[task] == stack
            && openState[task] == state.ordinal()
            && runSum == run[task]
            && waitSum == wait[task]
            && switchSum == switches[task]
            && owner[task] == owners.owner(task)) {
      return;
    }
    long rest = settle(task, now, runSum, waitSum, switchSum, off);
    waitFor(task);
    if (state != State.RUN) {
      openStack[task] = stack;
      openState[task] = (byte) state.ordinal();
      log.opened(owner[task], stack, state.ordinal(), off ? now - rest : now, passes);
    }
  }

  /** A sample of the CPU clock: the task runs with this stack. */
  void sampled(int task, long now, int stack, long runSum, long waitSum, long switchSum) {
    if (!begun[task]) {
      begin(task, now, runSum, waitSum, switchSum);
    }
    ran = 0;
    waited = 0;
    if (now >= time[task]) {
      settle(task, now, runSum, waitSum, switchSum, false);
    }
    sampledStack[task] = stack;
    place(task, stack, ran, waited, 1);
  }

  /** The task ended with these sums. */
  void gone(int task, long now, long runSum, long waitSum) {
    if (!known[task]) {
      return;
    }
    if (begun[task]) {
      long end = Math.max(now, time[task]);
      settle(task, end, runSum, waitSum, ENDED, false);
      waitFor(task);
      placeOnLast(task);
    }
    known[task] = false;
    begun[task] = false;
  }

  /**
   * Accounts for the time since the last sight and closes the open interval; leaves in {@link #ran}
   * and {@link #waited} what is to be placed.
   *
   * @return off-CPU time that belongs to what is seen now
   */
  private long settle(int task, long now, long runSum, long waitSum, long switchSum, boolean off) {
    int before = owner[task];
    int after = owners.owner(task);
    boolean open = openStack[task] != NO_INTERVAL;
    boolean wasQueued = open && openState[task] == QUEUED;
    boolean wasOff = open && !wasQueued;
    // A pass that wrote nothing about a sleeper found it asleep.
    long since = wasOff && previousPass > time[task] ? Math.min(now, previousPass) : time[task];
    long elapsed = now - since;
    ran = Math.max(0, runSum - run[task]);
    waited = Math.max(0, waitSum - wait[task]);
    boolean switched = switchSum != switches[task];
    waitCounted |= waitSum > 0;
    if (!waitCounted && wasQueued && !switched) {
      waited = Math.max(0, elapsed - ran);
    }
    waitedSince += waited;
    long rest = elapsed - ran - waited + carry[task];
    long slept = 0;
    if (rest < 0) {
      carry[task] = rest;
    } else if (wasOff || off || switched) {
      carry[task] = 0;
      slept = rest;
    } else {
      carry[task] = Math.min(rest, TICK_NANOS);
      if (rest > TICK_NANOS) {
        log.placed(before, Stacks.STOLEN, QUEUED, rest - TICK_NANOS, 0);
      }
    }
    if (wasQueued) {
      long shown = Math.max(0, Math.min(waited, elapsed - ran));
      log.closed(before, openStack[task], QUEUED, since + shown, passes);
      waited -= shown;
    } else if (wasOff) {
      log.closed(before, openStack[task], openState[task], off ? since : since + slept, passes);
    }
    openStack[task] = NO_INTERVAL;
    if (!wasOff && !off && slept > 0) {
      log.placed(before, Stacks.NOT_SAMPLED, SLEEP, slept, 0);
    }
    if (before != after) {
      placeOnLast(task);
      sampledStack[task] = NO_INTERVAL;
      owner[task] = after;
    }
    time[task] = now;
    run[task] = Math.max(run[task], runSum);
    wait[task] = Math.max(wait[task], waitSum);
    switches[task] = switchSum;
    return slept;
  }

  /** What was just settled waits for a sample. */
  private void waitFor(int task) {
    placed(task, Stacks.NOT_SAMPLED, RUN, ran);
    placed(task, Stacks.NOT_SAMPLED, QUEUED, waited);
    waitingRun[task] += ran;
    waitingQueued[task] += waited;
  }

  /** Moves what waits to a stack, and places this as well. */
  private void place(int task, int stack, long moreRun, long moreQueued, int samples) {
    placed(task, Stacks.NOT_SAMPLED, RUN, -waitingRun[task]);
    placed(task, Stacks.NOT_SAMPLED, QUEUED, -waitingQueued[task]);
    log.placed(owner[task], stack, RUN, waitingRun[task] + moreRun, samples);
    placed(task, stack, QUEUED, waitingQueued[task] + moreQueued);
    waitingRun[task] = 0;
    waitingQueued[task] = 0;
  }

  private void placed(int task, int stack, int state, long nanos) {
    if (nanos != 0) {
      log.placed(owner[task], stack, state, nanos, 0);
    }
  }

  private void placeOnLast(int task) {
    if (sampledStack[task] != NO_INTERVAL && (waitingRun[task] | waitingQueued[task]) != 0) {
      place(task, sampledStack[task], 0, 0, 0);
    }
    waitingRun[task] = 0;
    waitingQueued[task] = 0;
  }

  /** ns that were accounted as waiting for a CPU since the last call. */
  long takeWaited() {
    long taken = waitedSince;
    waitedSince = 0;
    return taken;
  }
}
