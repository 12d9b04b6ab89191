package flametop.profile.log;

import flametop.array.IntColumn;
import flametop.profile.answer.Shape;
import flametop.sampler.State;
import java.util.Arrays;
import java.util.BitSet;

/**
 * The time of every task, exact by the kernel's sums, and the samples that place it.
 *
 * <p>Between two sights of a task, time on a CPU (RUN) is what its run sum grew by, and time in the
 * run queue (QUEUED) what its wait sum did; the rest is off the CPU. So the three add up to the
 * wall clock, whatever was seen. The log gets two things that meet only when a window is read (see
 * {@code Estimate}):
 *
 * <ul>
 *   <li>Time whose stack is not known, as {@link Stacks#NOT_SAMPLED}: all RUN, waits, and time off
 *       the CPU before and after the passes that saw it.
 *   <li>Samples. One of the CPU clock stands for the clock's period. A pass that sees a task in a
 *       stay off the CPU, or in the run queue, for the first time stands for the time since the
 *       pass before: stays of any length are seen in proportion to their time then.
 * </ul>
 *
 * <p>From the first pass that sees a stay to the last, its stack is known: this is an open interval
 * of its own, exact to the ns.
 *
 * <ul>
 *   <li>That a task ended is told after passes that did not see it any more: it slept no longer
 *       than its sums leave.
 *   <li>The wait sum moves when the wait is over: what the log has of an open wait is taken off the
 *       growth of the sum.
 *   <li>The run sum lags by up to a tick. So off-CPU time up to a sight that is not off the CPU is
 *       in doubt: of a rest below zero at the next sight as much as can be is taken back from it,
 *       and what remains is carried over. A rest without a voluntary switch is no sleep: up to a
 *       tick of it is carried over as well, since it may be such a lag; what is above is {@link
 *       Stacks#STOLEN}.
 *   <li>Where the kernel counts time in D, time off the CPU that no pass saw is parted by it.
 *   <li>A kernel may take a sleep for a wait, back to the start of the task: of a wait sum that
 *       grew by far more than time passed only what can be is taken.
 * </ul>
 */
public final class Accounts {
  /** The longest tick of a kernel (CONFIG_HZ=100), ns. */
  public static final long TICK_NANOS = 10_000_000;

  /** What a wait may be longer than the sights tell, ns: no pass takes as long. */
  private static final long WAIT_SLACK_NANOS = 1_000_000_000;

  private static final long SECOND = 1_000_000_000;

  /** Rates until they are told: the defaults. */
  private static final int PASS_HZ = 19;

  private static final int CPU_HZ = 99;

  private static final int NO_INTERVAL = Integer.MIN_VALUE;
  private static final int NO_ACCOUNT = -1;
  private static final byte NOT_SEEN = -1;

  /** Switches of a task that ended: it may have slept before. */
  private static final long ENDED = -1;

  private static final int RUN = State.RUN.ordinal();
  private static final int QUEUED = State.QUEUED.ordinal();
  private static final int SLEEP = State.SLEEP.ordinal();
  private static final int DISK = State.DISK.ordinal();

  /** Time in D that is not counted. */
  private static final long NOT_COUNTED = -1;

  private final ChangeLog log;
  private final Owners owners;

  /** By task: its account, which another task gets when it is gone. */
  private int[] accountOf = new int[0];

  private final IntColumn free = new IntColumn();

  private int accounts;
  private int[] taskOf = new int[256];
  private boolean[] begun = new boolean[256];
  private long[] time = new long[256];
  private long[] run = new long[256];
  private long[] wait = new long[256];
  private long[] switches = new long[256];
  private long[] carry = new long[256];
  private int[] owner = new int[256];
  private int[] openStack = new int[256];
  private byte[] openState = new byte[256];

  /** When the open interval began, ns. */
  private long[] openSince = new long[256];

  /** Of the open wait: ns before {@link #openSince} that are in the log. */
  private long[] waitedBefore = new long[256];

  /** ns in D by the kernel: as told last, and at the sight before. */
  private long[] blocked = new long[256];

  private long[] blockedBefore = new long[256];

  /** What the sights so far have less of D than the kernel, ns. */
  private long[] blockedCarry = new long[256];

  private int[] sampledStack = new int[256];
  private byte[] seenState = new byte[256];
  private long[] since = new long[256];
  private long[] doubtNanos = new long[256];
  private int[] doubtOwner = new int[256];

  /** How long after the beginning of its pass the open interval began, ns. */
  private long[] visit = new long[256];

  private long passes;

  /** When the pass began that goes on, ns. */
  private long passBegan;

  private long previousPass = Long.MIN_VALUE;
  private long passNanos = SECOND / PASS_HZ;
  private long sampleNanos = SECOND / CPU_HZ;
  private boolean waitCounted;
  private long waitedSince;

  /** Whether the task is still in the stay that the sight before saw. */
  private boolean stays;

  public Accounts(ChangeLog log, Owners owners) {
    this.log = log;
    this.owners = owners;
  }

  /** The rates that are in force, a second; 0 of a clock that is off. */
  public void rates(int passHz, int cpuHz) {
    passNanos = passHz > 0 ? SECOND / passHz : passNanos;
    sampleNanos = cpuHz > 0 ? SECOND / cpuHz : sampleNanos;
  }

  /** What comes is of a pass that began then, ns, or of no pass. */
  public void batchBegins(long time) {
    passBegan = time;
  }

  /** Passes completed. */
  public long passes() {
    return passes;
  }

  /** A pass is complete: every task without a change was found as it was. */
  public void passEnds(long passTime) {
    passes++;
    previousPass = passTime;
  }

  /** The log was begun anew: what is open goes on in it. */
  public void restart() {
    for (int account = 0; account < accounts; account++) {
      doubtNanos[account] = 0;
      if (begun[account] && openStack[account] != NO_INTERVAL) {
        openSince[account] = Math.max(openSince[account], previousPass + visit[account]);
        log.opened(
            owner[account], openStack[account], openState[account], openSince[account], passes);
      }
    }
  }

  /**
   * The task exists; its account begins at {@code start} if all its sums are ours, else at first
   * sight.
   */
  public void taskSeen(int task, long start, boolean fresh) {
    if (!held(task)) {
      int account = account(task);
      if (fresh) {
        begin(account, start, 0, 0, 0);
        blockedBefore[account] = 0;
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
      owner = Arrays.copyOf(owner, length);
      openStack = Arrays.copyOf(openStack, length);
      openState = Arrays.copyOf(openState, length);
      openSince = Arrays.copyOf(openSince, length);
      waitedBefore = Arrays.copyOf(waitedBefore, length);
      visit = Arrays.copyOf(visit, length);
      blocked = Arrays.copyOf(blocked, length);
      blockedBefore = Arrays.copyOf(blockedBefore, length);
      blockedCarry = Arrays.copyOf(blockedCarry, length);
      sampledStack = Arrays.copyOf(sampledStack, length);
      seenState = Arrays.copyOf(seenState, length);
      since = Arrays.copyOf(since, length);
      doubtNanos = Arrays.copyOf(doubtNanos, length);
      doubtOwner = Arrays.copyOf(doubtOwner, length);
    }
    accountOf[task] = account;
    taskOf[account] = task;
    begun[account] = false;
    blocked[account] = NOT_COUNTED;
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
    blockedBefore[account] = blocked[account];
    blockedCarry[account] = 0;
    owner[account] = owners.owner(taskOf[account]);
  }

  /** The task has been in D for so long, up to its next sight, ns; -1: that is not counted. */
  public void blocked(int task, long nanos) {
    blocked[account(task)] = Math.max(NOT_COUNTED, nanos);
  }

  /** A pass saw the task; {@code stack} is meant only off the CPU. */
  public void changed(
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
    // Of an account that begins with this sight there is no time before, of which to be a sample.
    boolean begins = time[account] == now && openStack[account] == NO_INTERVAL;
    long rest = settle(account, now, runSum, waitSum, switchSum, state);
    if (!goesOn) {
      seenState[account] = (byte) state.ordinal();
      since[account] = now - rest;
    }
    if (state == State.RUN) {
      return;
    }
    boolean first = !stays && !begins;
    if (first) {
      long gap = previousPass == Long.MIN_VALUE ? passNanos : passBegan - previousPass;
      log.sampled(owner[account], stack, state.ordinal(), Shape.NO_CPU, Math.max(1, gap));
    }
    openStack[account] = stack;
    openState[account] = (byte) state.ordinal();
    openSince[account] = now;
    // A pass that was held up says little of when the next one comes by.
    visit[account] = Math.max(0, Math.min(now - passBegan, passNanos));
    // A sample counts for the pass that goes on.
    log.opened(owner[account], stack, state.ordinal(), now, first ? passes + 1 : passes);
    if (state == State.QUEUED) {
      // Of that nothing is in the sums yet.
      time[account] = now - rest;
      waitedBefore[account] = rest;
      waits(owner[account], QUEUED, rest);
    }
  }

  /** A sample of the CPU clock: the task runs with this stack. */
  public void sampled(
      int task, long now, int cpu, int stack, long runSum, long waitSum, long switchSum) {
    if (!held(task)) {
      // It was on its way when the task ended, whose time is accounted for.
      log.sampled(owners.owner(task), stack, RUN, cpu, sampleNanos);
      return;
    }
    int account = accountOf[task];
    if (!begun[account]) {
      begin(account, now, runSum, waitSum, switchSum);
    }
    if (now >= time[account]) {
      if (seenState[account] != RUN || switchSum != switches[account]) {
        seenState[account] = (byte) RUN;
        since[account] = now;
      }
      settle(account, now, runSum, waitSum, switchSum, State.RUN);
    }
    sampledStack[account] = stack;
    log.sampled(owner[account], stack, RUN, cpu, sampleNanos);
  }

  /** The task ended with these sums. */
  public void gone(int task, long now, long runSum, long waitSum) {
    if (!held(task)) {
      return;
    }
    int account = accountOf[task];
    if (begun[account]) {
      long end = Math.max(now, time[account]);
      settle(account, end, runSum, waitSum, ENDED, State.RUN);
    }
    begun[account] = false;
    accountOf[task] = NO_ACCOUNT;
    free.add(account);
  }

  /**
   * Accounts for the time since the last sight and closes the open interval; the time is that of
   * the owner that the task had: an exec is a sight of its own.
   *
   * @return time that belongs to the stay that is seen now
   */
  private long settle(
      int account, long now, long runSum, long waitSum, long switchSum, State state) {
    boolean off = state != State.RUN && state != State.QUEUED;
    int before = owner[account];
    int after = owners.owner(taskOf[account]);
    boolean open = openStack[account] != NO_INTERVAL;
    boolean wasQueued = open && openState[account] == QUEUED;
    boolean wasOff = open && !wasQueued;
    long looked = open ? Math.min(now, previousPass + visit[account]) : now;
    // A pass that wrote nothing about a sleeper found it asleep. Or it had ended before, which is
    // told late: so what it ran and waited may be taken from this as well.
    long asleep = wasOff ? Math.max(0, looked - time[account]) : 0;
    long elapsed = now - time[account];
    long ran = Math.max(0, runSum - run[account]);
    long waited = Math.max(0, waitSum - wait[account]);
    boolean switched = switchSum != switches[account];
    stays = open && openState[account] == state.ordinal() && !switched && ran + waited == 0;
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
        log.placed(before, Stacks.STOLEN, QUEUED, rest - TICK_NANOS);
      }
    }
    long unseen = stays ? 0 : Math.max(0, slept - asleep);
    if (wasQueued) {
      long ofIt = Math.max(0, Math.min(waited, elapsed - ran) - waitedBefore[account]);
      long seen = Math.min(Math.max(0, looked - openSince[account]), ofIt);
      log.closed(before, openStack[account], QUEUED, openSince[account] + seen, passes);
      waited -= waitedBefore[account] + seen;
    } else if (wasOff) {
      log.closed(
          before, openStack[account], openState[account], time[account] + slept - unseen, passes);
    }
    boolean sawDisk = wasOff && openState[account] == DISK;
    long disk = disk(account, sawDisk ? slept - unseen : 0, unseen);
    waits(before, RUN, ran);
    waits(before, QUEUED, waited);
    waits(before, DISK, disk);
    waits(before, SLEEP, unseen - disk);
    if (state != State.QUEUED) {
      // All waits are in the sums now.
      doubtNanos[account] = 0;
    }
    if (!off && unseen > disk) {
      boolean more = doubtOwner[account] == before;
      if (more || unseen - disk > doubtNanos[account]) {
        doubtNanos[account] = unseen - disk + (more ? doubtNanos[account] : 0);
        doubtOwner[account] = before;
      }
    }
    openStack[account] = NO_INTERVAL;
    if (before != after) {
      stays = false;
      sampledStack[account] = NO_INTERVAL;
      owner[account] = after;
    }
    time[account] = now;
    run[account] = Math.max(run[account], runSum);
    wait[account] = Math.max(wait[account], waitSum);
    switches[account] = switchSum;
    return off ? unseen : queued;
  }

  /**
   * How much of the time off the CPU that no pass saw was in D, where the kernel counts it.
   *
   * @param seen ns in D that passes saw
   */
  private long disk(int account, long seen, long unseen) {
    long before = blockedBefore[account];
    blockedBefore[account] = blocked[account];
    if (before == NOT_COUNTED || blocked[account] == NOT_COUNTED) {
      blockedCarry[account] = 0;
      return 0;
    }
    long rest = blocked[account] - before - seen + blockedCarry[account];
    long disk = Math.max(0, Math.min(rest, unseen));
    // What was taken for sleep was a wait, so this was no wait.
    long taken = Math.min(Math.max(0, rest - unseen), doubtNanos[account]);
    doubtNanos[account] -= taken;
    waits(doubtOwner[account], SLEEP, -taken);
    waits(owner[account], DISK, taken);
    rest -= taken;
    blockedCarry[account] = Math.max(-TICK_NANOS, Math.min(rest - disk, SECOND));
    return disk;
  }

  /** Takes what is in doubt back, as far as it makes up for this rest; what remains of the rest. */
  private long takeBack(int account, long rest) {
    long taken = Math.min(-rest, doubtNanos[account]);
    if (taken > 0) {
      doubtNanos[account] -= taken;
      waits(doubtOwner[account], SLEEP, -taken);
    }
    return rest + taken;
  }

  /** Time that waits for samples to place it. */
  private void waits(int of, int state, long nanos) {
    if (nanos != 0) {
      log.placed(of, Stacks.NOT_SAMPLED, state, nanos);
    }
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
  public void mark(BitSet owners, BitSet stacks) {
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
  public long takeWaited() {
    long taken = waitedSince;
    waitedSince = 0;
    return taken;
  }
}
