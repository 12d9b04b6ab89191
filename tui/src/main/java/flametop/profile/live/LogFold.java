package flametop.profile.live;

import flametop.array.IntColumn;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.log.LogWindow;
import flametop.profile.log.Owners;
import flametop.profile.log.Spot;
import flametop.profile.log.Stacks;
import flametop.profile.log.Sums;
import flametop.profile.log.Window;
import flametop.profile.tree.Finds;
import flametop.profile.tree.Fold;
import flametop.profile.tree.ShapedTree;
import flametop.sampler.State;
import org.jspecify.annotations.Nullable;

/**
 * The log folded into the trie of one shape, at the moment that its store shows, and the sums of
 * every process whatever the shape.
 */
public final class LogFold extends LogWindow implements Fold {
  private static final int BLOCKED = StateSet.BLOCKED.bits();
  private static final int DISK = StateSet.of(State.DISK).bits();

  /** The kind of time off the CPU that no pass saw. */
  private static final int UNSEEN = Spot.KINDS;

  /** The kind of time in D that the kernel counted. */
  private static final int COUNTED_DISK = Spot.KINDS + 1;

  final LogStore store;
  private final Owners owners;
  final Shape shape;
  private final boolean all;
  final Trie trie;
  private final ShapedTree tree;

  /** The time of the watched node in the window before. */
  final Trend trend;

  private final Sums processes = new Sums(false);

  /** The baseline of the store when the fold was begun; null: the fold is not compared. */
  private @Nullable Window wanted;

  /** Whether the fold is still on its way along the log to that baseline. */
  private boolean baselineDue;

  /** The window that the fold had there; null: the fold is not compared yet. */
  private @Nullable Window baseline;

  /** Whether the tail still has to move to the beginning of the window. */
  private boolean tailDue;

  /** By owner: 1 if the shape admits the owner, 2 if not, 0 if that is not known yet. */
  private final IntColumn admitted = new IntColumn();

  /**
   * @param epoch upper half of the numbers of the nodes
   * @param compared the baseline; null: the fold is not compared
   */
  LogFold(LogStore store, Shape shape, int epoch, @Nullable Window compared) {
    super(store.log);
    this.store = store;
    owners = store.owners;
    this.shape = shape;
    all = shape.everybody();
    wanted = compared;
    baselineDue = compared != null;
    Stacks stacks = store.stacks;
    boolean foldsIdle = store.options.foldIdle() && !shape.showsIdle();
    trie = new Trie(this, owners, stacks, shape, !store.options.hideRoots(), foldsIdle);
    tree = new ShapedTree(trie, stacks, shape, epoch, new Finds(trie, stacks));
    trend = new Trend(store.log, this);
    hold(store.limit());
  }

  @Override
  public ShapedTree tree() {
    return tree;
  }

  @Override
  public long changes() {
    return version();
  }

  @Override
  public void refresh(long deadline) {
    boolean unused = slice(deadline);
  }

  @Override
  public boolean isDue() {
    return tailDue || isBehind();
  }

  @Override
  public boolean isBehind() {
    return baselineDue || !caughtUp();
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // another baseline is another object
  public boolean isOutdated() {
    Window baseline = store.baseline();
    return lost() || baseline != null && !baseline.equals(wanted);
  }

  @Override
  public boolean slice(long deadline) {
    if (wanted != null && baselineDue) {
      hold(wanted.headTime());
      if (!range(wanted.whole() ? Long.MIN_VALUE : wanted.tailTime(), deadline)) {
        return false;
      }
      holdBaseline();
      hold(store.limit());
    }
    catchUp(deadline);
    tailDue =
        !store
            .moment()
            .range()
            .map(range -> range(range.from(), deadline))
            .orElseGet(() -> window(store.moment().span(window().headTime()), deadline));
    return !isDue();
  }

  @Override
  public void catchUp(long deadline) {
    super.catchUp(deadline);
    if (trie.lookAtSleep(window().headTold())) {
      changed();
    }
  }

  /** Follows the store, which shows another moment or is not compared any more. */
  void move() {
    if (store.baseline() == null && wanted != null) {
      wanted = null;
      baselineDue = false;
      baseline = null;
      trie.hold(false);
      changed();
    }
    hold(store.limit());
  }

  @Override
  public Selection selection(int node, StateSet states, long budget) {
    return new GraphReader(this).selection(node, states, budget);
  }

  @Override
  public void close() {
    super.close();
    trend.close();
  }

  /** The window that later windows are compared with; null if they are not compared. */
  @Nullable Window baseline() {
    return baseline;
  }

  /** Compares later windows with the window of now, and returns this window. */
  Window holdBaseline() {
    Window now = window();
    baseline = now;
    wanted = baselineDue ? wanted : now;
    baselineDue = false;
    trie.hold(true);
    changed();
    return now;
  }

  /** How much longer the window is than its baseline; 0 if the window is not compared. */
  double baselineScale() {
    if (baseline == null) {
      return 0;
    }
    long nanos = baseline.headTime() - (baseline.whole() ? startTime() : baseline.tailTime());
    return nanos > 0 ? (double) covered() / nanos : 0;
  }

  @Override
  public void head(int owner, int stack, int spot, long base, int open, long samples) {
    if (owner != Owners.OLDER) {
      processes.addHead(owners.process(owner), processKind(stack, spot), base, open, 0);
    }
    if (all || admits(owner)) {
      trie.head(owner, stack, spot, base, open, samples);
    }
  }

  @Override
  public void tail(int owner, int stack, int spot, long base, int open, long samples) {
    if (owner != Owners.OLDER) {
      processes.addTail(owners.process(owner), processKind(stack, spot), base, open, 0);
    }
    if (all || admits(owner)) {
      trie.tail(owner, stack, spot, base, open, samples);
    }
  }

  /** The beginning of the window before passed this change. */
  void begin(int owner, int stack, int spot, long base, int open) {
    if (all || admits(owner)) {
      trie.begin(owner, stack, spot, base, open);
    }
  }

  private static int processKind(int stack, int spot) {
    boolean unknown =
        stack == Stacks.NOT_SAMPLED
            && !Spot.isSampled(spot)
            && (BLOCKED >> Spot.state(spot) & 1) != 0;
    return !unknown
        ? Spot.kind(spot)
        : Spot.state(spot) == State.DISK.ordinal() ? COUNTED_DISK : UNSEEN;
  }

  private boolean admits(int owner) {
    if (admitted.get(owner) == 0) {
      admitted.set(owner, owners.admits(shape, owner) ? 1 : 2);
    }
    return admitted.get(owner) == 1;
  }

  /**
   * ns of a process in these states, whatever the shape. Time off the CPU between two passes is in
   * the states in which passes saw the process, but that in D is exact where the kernel counts it.
   */
  long processWeight(int process, int states) {
    Window window = window();
    long nanos = processes.weight(process, states, window);
    if ((states & BLOCKED) == 0) {
      return nanos;
    }
    long unknown = processes.weight(process, 1 << UNSEEN, window);
    long disk = processes.weight(process, 1 << COUNTED_DISK, window);
    int parted = disk == 0 ? BLOCKED : BLOCKED & ~DISK;
    if ((states & DISK) != 0) {
      nanos += disk;
    }
    double seen = processes.weight(process, Spot.sampledKinds(parted), window);
    double seenIn = processes.weight(process, Spot.sampledKinds(states & parted), window);
    boolean asleep = (states & StateSet.of(State.SLEEP).bits()) != 0;
    return nanos + (seen > 0 ? (long) (unknown * (seenIn / seen)) : asleep ? unknown : 0);
  }

  /** A stack has another path than before. */
  void renamed(int stack) {
    trie.renamed(stack);
    changed();
  }

  @Override
  public boolean tellsCpus() {
    return shape.tellsCpus();
  }

  /** Forgets all that is known of owners and functions by number: numbers were freed. */
  void swept() {
    admitted.empty();
    trie.functionsFreed();
    tree.forget();
  }

  /** Clears the sums of a process that was freed: another may get its number. */
  void processFreed(int process) {
    processes.clear(process);
  }
}
