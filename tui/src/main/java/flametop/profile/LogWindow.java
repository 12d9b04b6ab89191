package flametop.profile;

/**
 * What the log tells between two cursors, kept up to date as they move: the head goes on with the
 * log or is held; the tail goes after the window, either way.
 */
abstract class LogWindow implements ChangeLog.Reader {
  private final ChangeLog log;
  private final ChangeLog.Cursor head;
  private final ChangeLog.Cursor tail;
  private boolean whole = true;
  private long limit = Long.MAX_VALUE;
  private boolean lost;
  private Window window;
  private long version;

  LogWindow(ChangeLog log) {
    this.log = log;
    head = log.start();
    tail = log.start();
    look();
    log.attach(this);
  }

  /** The head passed this. */
  abstract void head(int owner, int stack, int state, long base, int open, long samples);

  /** The tail passed this. */
  abstract void tail(int owner, int stack, int state, long base, int open, long samples);

  void close() {
    log.detach(this);
  }

  /** Another one than before where anything may have changed. */
  long version() {
    return version;
  }

  void changed() {
    version++;
  }

  /** What the sums are read between now. */
  Window window() {
    return window;
  }

  /** How much the sums cover, ns. */
  long covered() {
    return window.headTime() - (whole ? log.startTime() : window.tailTime());
  }

  private void look() {
    if (!lost) {
      window = new Window(log.time(head), log.time(tail), log.pass(head), log.pass(tail), whole);
    }
  }

  /**
   * The head goes no further than to this time, ns; {@link Long#MAX_VALUE}: to the end of the log.
   */
  void hold(long limit) {
    this.limit = limit;
  }

  /** Whether history went away in which the held head stands: only a new one can go on. */
  boolean lost() {
    return lost;
  }

  /** Whether the head is at the end of the log, or where it is held. */
  boolean caughtUp() {
    return lost || !log.more(head) || log.nextTime(head) > limit;
  }

  /** Takes the head towards the end of the log until {@code deadline} ({@link System#nanoTime}). */
  void catchUp(long deadline) {
    while (!caughtUp()) {
      version++;
      log.forward(head, this::head);
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
  boolean window(long nanos, long deadline) {
    if (lost) {
      return true;
    }
    long target = window.headTime() - nanos;
    boolean all = nanos == Long.MAX_VALUE || target <= log.startTime();
    version += all == whole ? 0 : 1;
    whole = all;
    boolean there = true;
    while (!whole && there && moveTail(target)) {
      there = deadline - System.nanoTime() >= 0;
    }
    look();
    return there;
  }

  private boolean moveTail(long target) {
    if (log.time(tail) > target) {
      version++;
      return log.backward(tail, this::tail);
    }
    if (tail.before(head) && log.more(tail) && (log.nextTime(tail) <= target || log.atSum(tail))) {
      version++;
      log.forward(tail, this::tail);
      return true;
    }
    return false;
  }

  @Override
  public void leave(long from, long to) {
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
  public void moved(
      long from,
      int owner,
      int stack,
      int toOwner,
      int toStack,
      int state,
      long base,
      int open,
      long samples) {
    if (lost) {
      return;
    }
    version++;
    if (head.chunk != from || head.mark != 0) {
      head(owner, stack, state, -base, -open, -samples);
      head(toOwner, toStack, state, base, open, samples);
    }
    if (tail.chunk != from || tail.mark != 0) {
      tail(owner, stack, state, -base, -open, -samples);
      tail(toOwner, toStack, state, base, open, samples);
    }
  }

  @Override
  public void joined(long from, long to) {
    if (head.chunk == from) {
      head.chunk = to;
    }
    if (tail.chunk == from) {
      tail.chunk = to;
    }
  }
}
