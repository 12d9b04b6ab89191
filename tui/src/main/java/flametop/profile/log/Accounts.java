package flametop.profile.log;

import flametop.profile.answer.Shape;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

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

  /** A wait may be so much longer than the sights tell, ns: no pass takes as long. */
  private static final long WAIT_SLACK_NANOS = 1_000_000_000;

  private static final long SECOND = 1_000_000_000;

  /** Rates until they are told: the defaults. */
  private static final int PASS_HZ = 19;

  private static final int CPU_HZ = 99;

  private static final int NO_INTERVAL = Integer.MIN_VALUE;
  private static final int NOT_SEEN = -1;

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
  private final BusyCells busy = new BusyCells();

  /** One task, as the sights tell of the task. */
  private static final class Account {
    final int task;
    boolean begun;

    /** The sight before, ns, and the sums of the task then. */
    long time;

    long run;
    long wait;
    long switches;
    long carry;
    int owner;
    int openStack = NO_INTERVAL;
    int openState;

    /** When the open interval began, ns. */
    long openSince;

    /** How long after the beginning of its pass the open interval began, ns. */
    long visit;

    /** The part of the open wait before {@link #openSince} that is in the log, ns. */
    long waitedBefore;

    /** ns in D by the kernel: as told last, and at the sight before. */
    long blocked = NOT_COUNTED;

    long blockedBefore;

    /** ns in D that the kernel counted and the sights so far did not see. */
    long blockedCarry;

    int sampledStack = NO_INTERVAL;
    int seenState = NOT_SEEN;
    long since;
    long doubtNanos;
    int doubtOwner;

    Account(int task) {
      this.task = task;
    }

    boolean isOpen() {
      return openStack != NO_INTERVAL;
    }
  }

  /** By task; null of a task that was not seen or is gone. */
  private final List<Account> accounts = new ArrayList<>();

  private int held;
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

  /** When tasks were on CPUs. */
  public BusyCells busy() {
    return busy;
  }

  /** The rates that are in force, a second; 0 of a clock that is off. */
  public void rates(int passHz, int cpuHz) {
    passNanos = passHz > 0 ? SECOND / passHz : passNanos;
    sampleNanos = cpuHz > 0 ? SECOND / cpuHz : sampleNanos;
  }

  /** The next records are of a pass that began at this time, ns, or of no pass. */
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

  /**
   * The task exists; its account begins at {@code start} if all its sums are ours, else at first
   * sight.
   */
  public void taskSeen(int task, long start, boolean fresh) {
    if (!held(task)) {
      Account account = account(task);
      if (fresh) {
        begin(account, start, 0, 0, 0);
        account.blockedBefore = 0;
      }
    }
  }

  /** Whether the task has an account: it was seen and is not gone. */
  private boolean held(int task) {
    return task < accounts.size() && accounts.get(task) != null;
  }

  /** Tasks that have an account. */
  int held() {
    return held;
  }

  /** The account of a task; a new one if it has none. */
  private Account account(int task) {
    if (held(task)) {
      return accounts.get(task);
    }
    while (accounts.size() <= task) {
      accounts.add(null);
    }
    Account account = new Account(task);
    accounts.set(task, account);
    held++;
    return account;
  }

  private void begin(Account account, long start, long runSum, long waitSum, long switchSum) {
    account.begun = true;
    account.time = start;
    account.run = runSum;
    account.wait = waitSum;
    account.switches = switchSum;
    account.carry = 0;
    account.doubtNanos = 0;
    account.blockedBefore = account.blocked;
    account.blockedCarry = 0;
    account.owner = owners.owner(account.task);
  }

  /** The task has been in D for so long, up to its next sight, ns; -1: that is not counted. */
  public void blocked(int task, long nanos) {
    account(task).blocked = Math.max(NOT_COUNTED, nanos);
  }

  /** A pass saw the task; {@code stack} is meant only off the CPU. */
  public void changed(
      int task, long now, State state, int stack, long runSum, long waitSum, long switchSum) {
    Account account = account(task);
    if (!account.begun) {
      begin(account, now, runSum, waitSum, switchSum);
    } else if (now < account.time
        || state != State.RUN
            && account.openStack == stack
            && account.openState == state.ordinal()
            && runSum == account.run
            && waitSum == account.wait
            && switchSum == account.switches
            && account.owner == owners.owner(account.task)) {
      return;
    }
    boolean goesOn =
        account.seenState == state.ordinal()
            && switchSum == account.switches
            && (state == State.RUN || runSum == account.run);
    // Of an account that begins with this sight there is no time before, of which to be a sample.
    boolean begins = account.time == now && !account.isOpen();
    long rest = settle(account, now, runSum, waitSum, switchSum, state);
    if (!goesOn) {
      account.seenState = state.ordinal();
      account.since = now - rest;
    }
    if (state == State.RUN) {
      return;
    }
    boolean first = !stays && !begins;
    if (first) {
      long gap = previousPass == Long.MIN_VALUE ? passNanos : passBegan - previousPass;
      log.sampled(account.owner, stack, state.ordinal(), Shape.NO_CPU, Math.max(1, gap));
    }
    account.openStack = stack;
    account.openState = state.ordinal();
    account.openSince = now;
    // A pass that was held up says little of when the next one comes by.
    account.visit = Math.max(0, Math.min(now - passBegan, passNanos));
    // A sample counts for the pass that goes on.
    log.opened(account.owner, stack, state.ordinal(), now, first ? passes + 1 : passes);
    if (state == State.QUEUED) {
      // Of that nothing is in the sums yet.
      account.time = now - rest;
      account.waitedBefore = rest;
      waits(account.owner, QUEUED, rest);
    }
  }

  /** A sample of the CPU clock: the task runs with this stack. */
  public void sampled(
      int task, long now, int cpu, int stack, long runSum, long waitSum, long switchSum) {
    busy.seen(now, sampleNanos);
    if (!held(task)) {
      // It was on its way when the task ended, whose time is accounted for.
      log.sampled(owners.owner(task), stack, RUN, cpu, sampleNanos);
      return;
    }
    Account account = accounts.get(task);
    if (!account.begun) {
      begin(account, now, runSum, waitSum, switchSum);
    }
    if (now >= account.time) {
      if (account.seenState != RUN || switchSum != account.switches) {
        account.seenState = RUN;
        account.since = now;
      }
      settle(account, now, runSum, waitSum, switchSum, State.RUN);
    }
    account.sampledStack = stack;
    log.sampled(account.owner, stack, RUN, cpu, sampleNanos);
  }

  /** The task ended with these sums. */
  public void gone(int task, long now, long runSum, long waitSum) {
    if (!held(task)) {
      return;
    }
    Account account = accounts.get(task);
    if (account.begun) {
      long end = Math.max(now, account.time);
      settle(account, end, runSum, waitSum, ENDED, State.RUN);
    }
    accounts.set(task, null);
    held--;
  }

  /**
   * Accounts for the time since the last sight and closes the open interval; the time is that of
   * the owner that the task had: an exec is a sight of its own.
   *
   * @return time that belongs to the stay that is seen now
   */
  private long settle(
      Account account, long now, long runSum, long waitSum, long switchSum, State state) {
    boolean off = state != State.RUN && state != State.QUEUED;
    int before = account.owner;
    int after = owners.owner(account.task);
    boolean open = account.isOpen();
    boolean wasQueued = open && account.openState == QUEUED;
    boolean wasOff = open && !wasQueued;
    long looked = open ? Math.min(now, previousPass + account.visit) : now;
    // A pass that wrote nothing about a sleeper found it asleep. Or it had ended before, which is
    // told late: so what it ran and waited may be taken from this as well.
    long asleep = wasOff ? Math.max(0, looked - account.time) : 0;
    long elapsed = now - account.time;
    long ran = Math.max(0, runSum - account.run);
    long waited = Math.max(0, waitSum - account.wait);
    boolean switched = switchSum != account.switches;
    stays = open && account.openState == state.ordinal() && !switched && ran + waited == 0;
    if (ran > 0) {
      place(account, now, ran, switchSum, state);
    }
    waitCounted |= waitSum > 0;
    if (!waitCounted && wasQueued && !switched) {
      waited = Math.max(0, elapsed - ran);
    }
    long most = Math.max(0, elapsed - asleep - ran + account.carry + account.doubtNanos);
    if (waited > most + WAIT_SLACK_NANOS) {
      waited = most;
    }
    waitedSince += waited;
    long rest = elapsed - ran - waited + account.carry;
    if (rest < 0) {
      rest = takeBack(account, rest);
    }
    long slept = 0;
    long queued = 0;
    if (rest < 0) {
      account.carry = rest;
    } else if (wasOff || off || switched) {
      account.carry = 0;
      slept = rest;
    } else if (state == State.QUEUED) {
      account.carry = 0;
      queued = rest;
    } else {
      account.carry = Math.min(rest, TICK_NANOS);
      if (rest > TICK_NANOS) {
        log.placed(before, Stacks.STOLEN, QUEUED, rest - TICK_NANOS);
      }
    }
    long unseen = stays ? 0 : Math.max(0, slept - asleep);
    if (wasQueued) {
      long ofIt = Math.max(0, Math.min(waited, elapsed - ran) - account.waitedBefore);
      long seen = Math.min(Math.max(0, looked - account.openSince), ofIt);
      log.closed(before, account.openStack, QUEUED, account.openSince + seen, passes);
      waited -= account.waitedBefore + seen;
    } else if (wasOff) {
      log.closed(
          before, account.openStack, account.openState, account.time + slept - unseen, passes);
    }
    boolean sawDisk = wasOff && account.openState == DISK;
    long disk = disk(account, sawDisk ? slept - unseen : 0, unseen);
    waits(before, RUN, ran);
    waits(before, QUEUED, waited);
    waits(before, DISK, disk);
    waits(before, SLEEP, unseen - disk);
    if (state != State.QUEUED) {
      // All waits are in the sums now.
      account.doubtNanos = 0;
    }
    if (!off && unseen > disk) {
      boolean more = account.doubtOwner == before;
      if (more || unseen - disk > account.doubtNanos) {
        account.doubtNanos = unseen - disk + (more ? account.doubtNanos : 0);
        account.doubtOwner = before;
      }
    }
    account.openStack = NO_INTERVAL;
    if (before != after) {
      stays = false;
      account.sampledStack = NO_INTERVAL;
      account.owner = after;
    }
    account.time = now;
    account.run = Math.max(account.run, runSum);
    account.wait = Math.max(account.wait, waitSum);
    account.switches = switchSum;
    return off ? unseen : queued;
  }

  /**
   * Places time on a CPU between two sights. Without a switch of its own between them, a task that
   * is on a CPU now came there without a rest, and one that was on a CPU before went on there.
   */
  private void place(Account account, long now, long ran, long switchSum, State state) {
    // A pass in between saw that the task had not run since.
    boolean passed = previousPass > account.time && previousPass < now;
    long since = passed ? previousPass : account.time;
    long switches = switchSum - account.switches;
    if (state == State.RUN && switches == 0) {
      busy.ran(now - ran, now, ran);
    } else if (state != State.RUN
        && !passed
        && account.seenState == RUN
        && switches == (state == State.QUEUED ? 0 : 1)) {
      busy.ran(since, since + ran, ran);
    } else {
      busy.ran(Math.min(since, now - ran), now, ran);
    }
  }

  /**
   * How much of the time off the CPU that no pass saw was in D, where the kernel counts it.
   *
   * @param seen ns in D that passes saw
   */
  private long disk(Account account, long seen, long unseen) {
    long before = account.blockedBefore;
    account.blockedBefore = account.blocked;
    if (before == NOT_COUNTED || account.blocked == NOT_COUNTED) {
      account.blockedCarry = 0;
      return 0;
    }
    long rest = account.blocked - before - seen + account.blockedCarry;
    long disk = Math.max(0, Math.min(rest, unseen));
    // What was taken for sleep was a wait, so this was no wait.
    long taken = Math.min(Math.max(0, rest - unseen), account.doubtNanos);
    account.doubtNanos -= taken;
    waits(account.doubtOwner, SLEEP, -taken);
    waits(account.owner, DISK, taken);
    rest -= taken;
    account.blockedCarry = Math.max(-TICK_NANOS, Math.min(rest - disk, SECOND));
    return disk;
  }

  /** Takes what is in doubt back, as far as it makes up for this rest; what remains of the rest. */
  private long takeBack(Account account, long rest) {
    long taken = Math.min(-rest, account.doubtNanos);
    if (taken > 0) {
      account.doubtNanos -= taken;
      waits(account.doubtOwner, SLEEP, -taken);
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
    return held(task) && accounts.get(task).seenState != NOT_SEEN
        ? accounts.get(task).since
        : Long.MAX_VALUE;
  }

  /**
   * The stack that a task is in now or ran with last; {@link Stacks#NOT_SAMPLED} if none was seen.
   */
  int stack(int task) {
    if (!held(task)) {
      return Stacks.NOT_SAMPLED;
    }
    Account account = accounts.get(task);
    int stack = account.isOpen() ? account.openStack : account.sampledStack;
    return stack != NO_INTERVAL ? stack : Stacks.NOT_SAMPLED;
  }

  /** Adds the owners and stacks that accounts refer to. */
  public void mark(BitSet owners, BitSet stacks) {
    for (Account account : accounts) {
      if (account != null && account.begun) {
        owners.set(account.owner);
        if (account.doubtNanos > 0) {
          owners.set(account.doubtOwner);
        }
        Stacks.keep(account.openStack, stacks);
        Stacks.keep(account.sampledStack, stacks);
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
