package flametop.profile;

import java.util.Arrays;

/**
 * The log folded for one shape: a trie, the sums of every process whatever the shape, and the two
 * cursors that they are between. The head goes on with the log or is held; the tail goes after the
 * window, either way.
 */
final class Fold implements ChangeLog.Reader {
  private final ChangeLog log;
  private final Owners owners;
  private final Shape shape;
  private final boolean all;
  private final Trie trie;
  private final Sums processes = new Sums(false);
  private int processCount;
  private byte[] admitted = new byte[1024];

  private final ChangeLog.Cursor head;
  private final ChangeLog.Cursor tail;
  private boolean whole = true;
  private long limit = Long.MAX_VALUE;
  private boolean lost;
  private Window window;

  Fold(ChangeLog log, Owners owners, Stacks stacks, Options options, Shape shape) {
    this.log = log;
    this.owners = owners;
    this.shape = shape;
    all = shape.everybody();
    trie = new Trie(owners, stacks, shape, !options.hideRoots());
    head = log.start();
    tail = log.start();
    look();
    log.attach(this);
  }

  void close() {
    log.detach(this);
  }

  Trie trie() {
    return trie;
  }

  Shape shape() {
    return shape;
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

  /** Whether history went away in which the held head stands: only a new fold can go on. */
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
    whole = nanos == Long.MAX_VALUE || target <= log.startTime();
    boolean there = true;
    while (!whole && there && moveTail(target)) {
      there = deadline - System.nanoTime() >= 0;
    }
    look();
    return there;
  }

  private boolean moveTail(long target) {
    if (log.time(tail) > target) {
      return log.backward(tail, this::tail);
    }
    if (tail.before(head) && log.more(tail) && (log.nextTime(tail) <= target || log.atSum(tail))) {
      log.forward(tail, this::tail);
      return true;
    }
    return false;
  }

  private void head(int owner, int stack, int state, long base, int open, long samples) {
    if (owner != Owners.OLDER) {
      processes.addHead(process(owner), state, base, open, 0);
    }
    if (shape.admits(state) && (all || admits(owner))) {
      trie.head(owner, stack, state, base, open, samples);
    }
  }

  private void tail(int owner, int stack, int state, long base, int open, long samples) {
    if (owner != Owners.OLDER) {
      processes.addTail(process(owner), state, base, open, 0);
    }
    if (shape.admits(state) && (all || admits(owner))) {
      trie.tail(owner, stack, state, base, open, samples);
    }
  }

  private int process(int owner) {
    int process = owners.process(owner);
    if (process >= processCount) {
      processCount = process + 1;
      processes.things(processCount);
    }
    return process;
  }

  private boolean admits(int owner) {
    if (owner >= admitted.length) {
      admitted = Arrays.copyOf(admitted, Math.max(owner + 1, 2 * admitted.length));
    }
    if (admitted[owner] == 0) {
      admitted[owner] = (byte) (owners.admits(shape, owner) ? 1 : 2);
    }
    return admitted[owner] == 1;
  }

  /** ns of a process in these states, whatever the shape. */
  long processWeight(int process, int states) {
    return process < processCount ? processes.weight(process, states, window) : 0;
  }

  /** The path of a stack is another than before. */
  void renamed(int stack) {
    trie.renamed(stack, window);
  }

  @Override
  public void leave(long from, long to) {
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
    if (head.chunk != from || head.mark != 0) {
      head(owner, stack, state, -base, -open, -samples);
      head(toOwner, toStack, state, base, open, samples);
    }
    if (tail.chunk != from || tail.mark != 0) {
      tail(owner, stack, state, -base, -open, -samples);
      tail(toOwner, toStack, state, base, open, samples);
    }
  }

  /** Owners and functions that were freed may be others from now on. */
  void swept() {
    Arrays.fill(admitted, (byte) 0);
    trie.functionsFreed();
  }

  /** A process was freed: another begins without its sums. */
  void processFreed(int process) {
    if (process < processCount) {
      processes.clear(process);
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
