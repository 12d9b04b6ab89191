package flametop.profile;

import flametop.sampler.State;
import java.util.Arrays;
import java.util.BitSet;

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
 *       stack seen at the previous pass; else it stays not sampled. That a task ended is told after
 *       passes that did not see it any more: it slept no longer than its sums leave.
 *   <li>Seen in the run queue: open on the stack it waits with, since {@code now − rest} if it did
 *       not sleep before; when the wait sum moves, what was shown already is taken off it.
 *   <li>The wait sum moves when the wait is over, and the run sum lags by up to a tick. So off-CPU
 *       time up to a sight that is not off the CPU is in doubt: of a rest below zero at the next
 *       sight as much as can be is taken back from it, and what remains is carried over. A rest
 *       without a voluntary switch is no sleep: up to a tick of it is carried over as well, since
 *       it may be such a lag; what is above is {@link Stacks#STOLEN}.
 *   <li>A kernel may take a sleep for a wait, back to the start of the task: of a wait sum that
 *       grew by far more than time passed only what can be is taken.
 * </ul>
 */
final class Accounts {
  /** The longest tick of a kernel (CONFIG_HZ=100), ns. */
  static final long TICK_NANOS = 10_000_000;

  /** What a wait may be longer than the sights tell, ns: no pass takes as long. */
  private static final long WAIT_SLACK_NANOS = 1_000_000_000;

  private static final int NO_INTERVAL = Integer.MIN_VALUE;
  private static final int NO_ACCOUNT = -1;
  private static final byte NOT_SEEN = -1;

  /** Switches of a task that ended: it may have slept before. */
  private static final long ENDED = -1;

  private static final int RUN = State.RUN.ordinal();
  private static final int QUEUED = State.QUEUED.ordinal();
  private static final int SLEEP = State.SLEEP.ordinal();

  private final ChangeLog log;
  private final Owners owners;

  /** By task: its account, which another task gets when it is gone. */
  private int[] accountOf = new int[0];

  private final IntList free = new IntList();

  private int accounts;
  private int[] taskOf = new int[256];
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
  private short[] sampledCpu = new short[256];
  private byte[] seenState = new byte[256];
  private long[] since = new long[256];
  private long[] doubtNanos = new long[256];
  private int[] doubtOwner = new int[256];
  private int[] doubtStack = new int[256];
  private byte[] doubtState = new byte[256];

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
    for (int account = 0; account < accounts; account++) {
      waitingRun[account] = 0;
      waitingQueued[account] = 0;
      doubtNanos[account] = 0;
      if (begun[account] && openStack[account] != NO_INTERVAL) {
        long from =
            openState[account] == QUEUED ? time[account] : Math.max(time[account], previousPass);
        log.opened(owner[account], openStack[account], openState[account], from, passes);
      }
    }
  }

  /**
   * The task exists; its account begins at {@code start} if all its sums are ours, else at first
   * sight.
   */
  void taskSeen(int task, long start, boolean fresh) {
    if (!held(task)) {
      int account = account(task);
      if (fresh) {
        begin(account, start, 0, 0, 0);
      }
    }
  }

  /** Whether the task has an account: it was seen and is not gone. */
  private boolean held(int task) {
    return task < accountOf.length && accountOf[task] != NO_ACCOUNT;
  }

  /** Accounts that are held by a task. */
  int held() {
    return accounts - free.size;
  }

  /** The account of a task; a new one if it has none. */
  private int account(int task) {
    if (task >= accountOf.length) {
      int length = accountOf.length;
      accountOf = Arrays.copyOf(accountOf, Math.max(task + 1, 2 * length));
      Arrays.fill(accountOf, length, accountOf.length, NO_ACCOUNT);
    }
    if (accountOf[task] != NO_ACCOUNT) {
      return accountOf[task];
    }
    int account = free.size > 0 ? free.items[--free.size] : accounts++;
    if (account == taskOf.length) {
      int length = 2 * account;
      taskOf = Arrays.copyOf(taskOf, length);
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
      sampledCpu = Arrays.copyOf(sampledCpu, length);
      seenState = Arrays.copyOf(seenState, length);
      since = Arrays.copyOf(since, length);
      doubtNanos = Arrays.copyOf(doubtNanos, length);
      doubtOwner = Arrays.copyOf(doubtOwner, length);
      doubtStack = Arrays.copyOf(doubtStack, length);
      doubtState = Arrays.copyOf(doubtState, length);
    }
    accountOf[task] = account;
    taskOf[account] = task;
    begun[account] = false;
    sampledStack[account] = NO_INTERVAL;
    openStack[account] = NO_INTERVAL;
    seenState[account] = NOT_SEEN;
    return account;
  }

  private void begin(int account, long start, long runSum, long waitSum, long switchSum) {
    begun[account] = true;
    time[account] = start;
    run[account] = runSum;
    wait[account] = waitSum;
    switches[account] = switchSum;
    carry[account] = 0;
    doubtNanos[account] = 0;
    owner[account] = owners.owner(taskOf[account]);
  }

  /** A pass saw the task; {@code stack} is meant only off the CPU. */
  void changed(
      int task, long now, State state, int stack, long runSum, long waitSum, long switchSum) {
    int account = account(task);
    if (!begun[account]) {
      begin(account, now, runSum, waitSum, switchSum);
    } else if (now < time[account]
        || state != State.RUN
            && openStack[account] == stack
            && openState[account] == state.ordinal()
            && runSum == run[account]
            && waitSum == wait[account]
            && switchSum == switches[account]
            && owner[account] == owners.owner(taskOf[account])) {
      return;
    }
    boolean goesOn =
        seenState[account] == state.ordinal()
            && switchSum == switches[account]
            && (state == State.RUN || runSum == run[account]);
    long rest = settle(account, now, runSum, waitSum, switchSum, state, false);
    if (!goesOn) {
      seenState[account] = (byte) state.ordinal();
      since[account] = now - rest;
    }
    if (state != State.RUN) {
      openStack[account] = stack;
      openState[account] = (byte) state.ordinal();
      log.opened(owner[account], stack, state.ordinal(), now - rest, passes);
      if (state == State.QUEUED) {
        // Of that nothing is in the sums yet.
        time[account] = now - rest;
      }
    }
  }

  /** A sample of the CPU clock: the task runs with this stack. */
  void sampled(int task, long now, int cpu, int stack, long runSum, long waitSum, long switchSum) {
    if (!held(task)) {
      // It was on its way when the task ended, whose time is accounted for.
      log.placed(owners.owner(task), stack, RUN, cpu, 0, 1);
      return;
    }
    int account = accountOf[task];
    if (!begun[account]) {
      begin(account, now, runSum, waitSum, switchSum);
    }
    ran = 0;
    waited = 0;
    if (now >= time[account]) {
      if (seenState[account] != RUN || switchSum != switches[account]) {
        seenState[account] = (byte) RUN;
        since[account] = now;
      }
      settle(account, now, runSum, waitSum, switchSum, State.RUN, true);
    }
    sampledStack[account] = stack;
    sampledCpu[account] = (short) cpu;
    place(account, ran, waited, 1);
  }

  /** The task ended with these sums. */
  void gone(int task, long now, long runSum, long waitSum) {
    if (!held(task)) {
      return;
    }
    int account = accountOf[task];
    if (begun[account]) {
      long end = Math.max(now, time[account]);
      settle(account, end, runSum, waitSum, ENDED, State.RUN, false);
      placeOnLast(account);
    }
    begun[account] = false;
    accountOf[task] = NO_ACCOUNT;
    free.add(account);
  }

  /**
   * Accounts for the time since the last sight and closes the open interval. Where a sample is
   * seen, {@link #ran} and {@link #waited} are left for its stack; else they wait for one, of the
   * owner that the task had: an exec is a sight of its own.
   *
   * @return time that belongs to what is seen now
   */
  private long settle(
      int account,
      long now,
      long runSum,
      long waitSum,
      long switchSum,
      State state,
      boolean sampled) {
    boolean off = state != State.RUN && state != State.QUEUED;
    int before = owner[account];
    int after = owners.owner(taskOf[account]);
    boolean open = openStack[account] != NO_INTERVAL;
    boolean wasQueued = open && openState[account] == QUEUED;
    boolean wasOff = open && !wasQueued;
    // A pass that wrote nothing about a sleeper found it asleep. Or it had ended before, which is
    // told late: so what it ran and waited may be taken from this as well.
    long asleep =
        wasOff && previousPass > time[account] ? Math.min(now, previousPass) - time[account] : 0;
    long elapsed = now - time[account];
    ran = Math.max(0, runSum - run[account]);
    waited = Math.max(0, waitSum - wait[account]);
    boolean switched = switchSum != switches[account];
    waitCounted |= waitSum > 0;
    if (!waitCounted && wasQueued && !switched) {
      waited = Math.max(0, elapsed - ran);
    }
    long most = Math.max(0, elapsed - asleep - ran + carry[account] + doubtNanos[account]);
    if (waited > most + WAIT_SLACK_NANOS) {
      waited = most;
    }
    waitedSince += waited;
    long rest = elapsed - ran - waited + carry[account];
    if (rest < 0) {
      rest = takeBack(account, rest);
    }
    if (state != State.QUEUED) {
      // All waits are in the sums now.
      doubtNanos[account] = 0;
    }
    long slept = 0;
    long queued = 0;
    if (rest < 0) {
      carry[account] = rest;
    } else if (wasOff || off || switched) {
      carry[account] = 0;
      slept = rest;
    } else if (state == State.QUEUED) {
      carry[account] = 0;
      queued = rest;
    } else {
      carry[account] = Math.min(rest, TICK_NANOS);
      if (rest > TICK_NANOS) {
        log.placed(before, Stacks.STOLEN, QUEUED, Spot.NO_CPU, rest - TICK_NANOS, 0);
      }
    }
    long unseen = Math.max(0, slept - asleep);
    if (wasQueued) {
      long shown = Math.max(0, Math.min(waited, elapsed - ran));
      log.closed(before, openStack[account], QUEUED, time[account] + shown, passes);
      waited -= shown;
    } else if (wasOff) {
      long end = time[account] + (off ? slept - unseen : slept);
      log.closed(before, openStack[account], openState[account], end, passes);
    }
    if (!off && unseen > 0) {
      int stack = wasOff ? openStack[account] : Stacks.NOT_SAMPLED;
      byte sleptState = wasOff ? openState[account] : (byte) SLEEP;
      boolean more =
          doubtOwner[account] == before
              && doubtStack[account] == stack
              && doubtState[account] == sleptState;
      if (more || unseen > doubtNanos[account]) {
        doubtNanos[account] = unseen + (more ? doubtNanos[account] : 0);
        doubtOwner[account] = before;
        doubtStack[account] = stack;
        doubtState[account] = sleptState;
      }
      if (!wasOff) {
        log.placed(before, Stacks.NOT_SAMPLED, SLEEP, Spot.NO_CPU, unseen, 0);
      }
    }
    openStack[account] = NO_INTERVAL;
    if (!sampled) {
      waitFor(account);
    }
    if (before != after) {
      placeOnLast(account);
      sampledStack[account] = NO_INTERVAL;
      owner[account] = after;
    }
    time[account] = now;
    run[account] = Math.max(run[account], runSum);
    wait[account] = Math.max(wait[account], waitSum);
    switches[account] = switchSum;
    return off ? unseen : queued;
  }

  /** Takes what is in doubt back, as far as it makes up for this rest; what remains of the rest. */
  private long takeBack(int account, long rest) {
    long taken = Math.min(-rest, doubtNanos[account]);
    if (taken > 0) {
      doubtNanos[account] -= taken;
      log.placed(
          doubtOwner[account], doubtStack[account], doubtState[account], Spot.NO_CPU, -taken, 0);
    }
    return rest + taken;
  }

  /** What was just settled waits for a sample. */
  private void waitFor(int account) {
    waits(account, RUN, ran);
    waits(account, QUEUED, waited);
    waitingRun[account] += ran;
    waitingQueued[account] += waited;
  }

  /** Moves what waits to the stack and CPU of the last sample, and places this there as well. */
  private void place(int account, long moreRun, long moreQueued, int samples) {
    int stack = sampledStack[account];
    int cpu = sampledCpu[account];
    waits(account, RUN, -waitingRun[account]);
    waits(account, QUEUED, -waitingQueued[account]);
    log.placed(owner[account], stack, RUN, cpu, waitingRun[account] + moreRun, samples);
    long queued = waitingQueued[account] + moreQueued;
    if (queued != 0) {
      log.placed(owner[account], stack, QUEUED, cpu, queued, 0);
    }
    waitingRun[account] = 0;
    waitingQueued[account] = 0;
  }

  private void waits(int account, int state, long nanos) {
    if (nanos != 0) {
      log.placed(owner[account], Stacks.NOT_SAMPLED, state, Spot.NO_CPU, nanos, 0);
    }
  }

  private void placeOnLast(int account) {
    if (sampledStack[account] != NO_INTERVAL
        && (waitingRun[account] | waitingQueued[account]) != 0) {
      place(account, 0, 0, 0);
    }
    waitingRun[account] = 0;
    waitingQueued[account] = 0;
  }

  /**
   * Since when a task is in the state that it was seen in last, ns; {@link Long#MAX_VALUE} if it
   * was not seen yet.
   */
  long since(int task) {
    return held(task) && seenState[accountOf[task]] != NOT_SEEN
        ? since[accountOf[task]]
        : Long.MAX_VALUE;
  }

  /**
   * The stack that a task is in now or ran with last; {@link Stacks#NOT_SAMPLED} if none was seen.
   */
  int stack(int task) {
    if (!held(task)) {
      return Stacks.NOT_SAMPLED;
    }
    int account = accountOf[task];
    int stack = openStack[account] != NO_INTERVAL ? openStack[account] : sampledStack[account];
    return stack != NO_INTERVAL ? stack : Stacks.NOT_SAMPLED;
  }

  /** Adds the owners and stacks that accounts refer to. */
  void mark(BitSet owners, BitSet stacks) {
    for (int account = 0; account < accounts; account++) {
      if (accountOf[taskOf[account]] == account && begun[account]) {
        owners.set(owner[account]);
        // What is no stack is below zero.
        if (openStack[account] >= 0) {
          stacks.set(openStack[account]);
        }
        if (sampledStack[account] >= 0) {
          stacks.set(sampledStack[account]);
        }
      }
    }
  }

  /** ns that were accounted as waiting for a CPU since the last call. */
  long takeWaited() {
    long taken = waitedSince;
    waitedSince = 0;
    return taken;
  }
}
