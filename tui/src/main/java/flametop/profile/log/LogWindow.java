package flametop.profile.log;

/**
 * The sums of the log between two cursors, kept up to date as the cursors move: the head goes on
 * with the log or is held; the tail follows after the window in both cases.
 */
public abstract class LogWindow implements ChangeLog.Reader {
  private final ChangeLog log;
  private final ChangeLog.Cursor head;
  private final ChangeLog.Cursor tail;
  private boolean whole = true;

  /** Whether the tail may stand within a batch. */
  private boolean within;

  private long limit = Long.MAX_VALUE;
  private boolean lost;
  private Window window;
  private long version;

  public LogWindow(ChangeLog log) {
    this.log = log;
    head = log.start();
    tail = log.start();
    window = between();
    log.attach(this);
  }

  /** The head passed this. */
  public abstract void head(int owner, int stack, int spot, long base, int open, long samples);

  /** The tail passed this. */
  public abstract void tail(int owner, int stack, int spot, long base, int open, long samples);

  /** Where the tail stands; not to be moved. */
  public ChangeLog.Cursor tailCursor() {
    return tail;
  }

  public void close() {
    log.detach(this);
  }

  /** Another one than before where anything may have changed. */
  public long version() {
    return version;
  }

  public void changed() {
    version++;
  }

  /** The two moments between which the sums are read now. */
  public Window window() {
    return window;
  }

  /** When the log begins, ns. */
  public long startTime() {
    return log.startTime();
  }

  /** How much the sums cover, ns. */
  public long covered() {
    return window.headTime() - (whole ? log.startTime() : window.tailTime());
  }

  private void look() {
    if (!lost) {
      window = between();
    }
  }

  private Window between() {
    return new Window(
        log.time(head),
        log.time(tail),
        log.told(head),
        log.told(tail),
        log.pass(head),
        log.pass(tail),
        whole);
  }

  /**
   * The head goes to this time and no further, ns; {@link Long#MAX_VALUE}: to the end of the log.
   */
  public void hold(long limit) {
    this.limit = limit;
  }

  /** Whether history went away in which the held head stands: only a new one can go on. */
  public boolean lost() {
    return lost;
  }

  /** Whether the head is at the end of the log, or where it is held. */
  public boolean caughtUp() {
    return lost || !isBehind() && !isAhead();
  }

  /** A sum cannot be parted: the head goes to the end of the sum in which it is held. */
  private boolean isBehind() {
    return log.more(head)
        && (log.nextTime(head) <= limit
            || log.nextStep(head) != ChangeLog.FULL && log.nextBegin(head) < limit);
  }

  /** The head never goes back behind the tail, which goes first. */
  private boolean isAhead() {
    return log.time(head) > limit
        && log.less(head)
        && (whole || tail.before(head))
        && (log.step(head) == ChangeLog.FULL || log.begin(head) >= limit);
  }

  /** Takes the head to where it is to be, until {@code deadline} ({@link System#nanoTime}). */
  public void catchUp(long deadline) {
    while (!caughtUp()) {
      version++;
      if (isBehind()) {
        log.forward(head, this::head);
      } else {
        log.backward(head, this::head);
      }
      if (deadline - System.nanoTime() < 0) {
        break;
      }
    }
    look();
  }

  /**
   * Takes the tail to {@code nanos} before the head, until {@code deadline} ({@link
   * System#nanoTime}); {@link #window} and {@link #covered} tell how far it came.
   *
   * @return whether it is there
   */
  public boolean window(long nanos, long deadline) {
    if (lost) {
      return true;
    }
    long from = nanos == Long.MAX_VALUE ? Long.MIN_VALUE : window.headTime() - nanos;
    within = false;
    boolean there = seek(from, deadline);
    look();
    return there;
  }

  /**
   * Takes the tail to {@code from} and the head to where it is held, like {@link #window}; both may
   * then stand within a batch.
   *
   * @param from ns
   */
  public boolean range(long from, long deadline) {
    if (lost) {
      return true;
    }
    within = true;
    boolean there = seek(from, deadline);
    catchUp(deadline);
    there &= caughtUp() && seek(from, deadline);
    look();
    return there;
  }

  private boolean seek(long from, long deadline) {
    boolean all = from <= log.startTime();
    version += all == whole ? 0 : 1;
    whole = all;
    while (!whole && moveTail(from)) {
      if (deadline - System.nanoTime() < 0) {
        return false;
      }
    }
    return true;
  }

  /** The one sum of the oldest history is left out, unless the head is held within that sum. */
  private boolean moveTail(long target) {
    boolean late = log.time(tail) > target;
    boolean goesOn =
        !late
            && tail.before(head)
            && log.more(tail)
            && ((within ? log.nextTime(tail) : log.nextWhole(tail)) <= target
                || log.nextStep(tail) == ChangeLog.ALL && log.nextTime(tail) < limit);
    if (goesOn) {
      version++;
      log.forward(tail, this::tail);
      return true;
    }
    if (late || !within && log.isWithin(tail)) {
      if (!log.less(tail) || log.step(tail) == ChangeLog.ALL && log.time(tail) < limit) {
        return false;
      }
      version++;
      return log.backward(tail, this::tail);
    }
    return false;
  }

  @Override
  public void leave(int from, int to) {
    version++;
    while (!lost && log.within(head, from, to)) {
      if (caughtUp()) {
        lost = true;
      } else {
        log.forward(head, this::head);
      }
    }
    while (!lost && log.within(tail, from, to)) {
      if (!tail.before(head)) {
        lost = true;
        break;
      }
      log.forward(tail, this::tail);
    }
    look();
  }

  @Override
  public void moved(int from, int owner, int stack, int spot, long base, int open, long samples) {
    if (lost) {
      return;
    }
    version++;
    if (head.isPast(from)) {
      head(owner, stack, spot, base, open, samples);
    }
    if (tail.isPast(from)) {
      tail(owner, stack, spot, base, open, samples);
    }
  }

  @Override
  public void joined(int from, int to) {
    head.joined(from, to);
    tail.joined(from, to);
  }
}
