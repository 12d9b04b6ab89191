package flametop.profile.live;

import flametop.array.IntColumn;
import flametop.array.LongIndex;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.log.Owners;
import flametop.profile.log.Spot;
import flametop.profile.log.Stacks;
import flametop.profile.log.Sums;
import flametop.profile.log.Window;
import flametop.profile.tree.CallTree;
import flametop.profile.tree.Nodes;
import flametop.profile.tree.Paths;
import flametop.profile.tree.Shaper;
import flametop.sampler.State;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The call tree of all changes that the cursors of a fold have passed. The number of a node stays
 * while the trie lives. Sums are kept per entry, which is (owner, stack); {@link Estimate} places
 * the time of entries when a window is read, and only then the time is added up along the paths. An
 * entry that the shape leaves out has no path: its samples count for its pool. Where idle threads
 * are folded, sleep has entries of its own: those that wait for work are one frame.
 */
public final class Trie extends Nodes implements CallTree {
  private static final int STATES = State.values().length;
  private static final int SLEEP = State.SLEEP.ordinal();

  /** The number for all CPUs that the shape leaves out. */
  private static final int LEFT_OUT = Shape.NO_CPU - 1;

  private final LogFold fold;
  private final Owners owners;
  private final Stacks stacks;
  private final Shape shape;
  private final OwnerPaths ownerPaths;
  private final Shaper shaper;

  /** Whether frames are kept that only say that nothing called them. */
  final boolean roots;

  /** The ages of entries of sleep; null where idle threads are not folded. */
  private final @Nullable IdleEntries idle;

  /** By node: how many paths of entries go through it. */
  private final IntColumn passing = new IntColumn();

  private final BitSet guessed = new BitSet();

  // Entries by number. The key of an entry is its owner, or owner and CPU, and its stack.
  private final LongIndex entryKeys = new LongIndex();
  private final IntColumn entryOwner = new IntColumn();

  /** The CPU of each entry, only where the shape tells CPUs apart. */
  private final IntColumn entryCpu = new IntColumn();

  private final IntColumn entryPool = new IntColumn();

  private final IntColumn entryLeaf = new IntColumn();

  /** The entry that came before with the same stack. */
  private final IntColumn entryNext = new IntColumn();

  /** By stack: the entry that came last. */
  private final IntColumn stackEntry = new IntColumn(NONE);

  private final Sums entrySums = new Sums(true);
  private final Map<Object, Integer> pools = new HashMap<>();

  /** Numbers for pairs of owner and CPU. */
  private final LongIndex pairs = new LongIndex();

  private final Estimate estimate = new Estimate(entrySums, this);

  /** Estimates the window before. */
  private final Estimate estimateBefore = new Estimate(entrySums, this);

  /** Another number whenever a sum or path may have changed. */
  private long changes;

  /** Another number whenever a path may have changed. */
  private long paths;

  /** By slot of the sums: ns in the window that was read last; see {@link #estimated}. */
  private long[] nanos = new long[0];

  /** ns of the root in that window, by state. */
  private long[] rootNanos = new long[STATES];

  private @Nullable Window nanosOf;
  private long nanosAt = -1;

  /** By slot of the sums: ns in the window before. */
  private long[] before = new long[0];

  /** By slot of the sums: ns in the baseline; null if windows are not compared. */
  private long @Nullable [] held;

  private final NodeSums nodeSums = new NodeSums(this);

  /** The sums of {@link #held}. */
  private final NodeSums heldSums = new NodeSums(this);

  private final LeftNodes left = new LeftNodes(this);

  /** The entries below the selected node. */
  final SelectedNodeSums watch;

  private final IntColumn path = new IntColumn();
  private final IntColumn pathGuessed = new IntColumn();
  private final IntColumn origins = new IntColumn();

  /**
   * @param fold whose window the tree shows
   * @param roots whether frames are kept that only say that nothing called them
   * @param foldsIdle whether stacks of idle threads are one frame
   */
  Trie(LogFold fold, Owners owners, Stacks stacks, Shape shape, boolean roots, boolean foldsIdle) {
    super(Stacks.ALL);
    index = new LongIndex(keys);
    passing.add(0);
    this.fold = fold;
    this.owners = owners;
    this.stacks = stacks;
    this.shape = shape;
    this.roots = roots;
    idle = foldsIdle ? new IdleEntries(entrySums, entry -> stacks.idle(stack(entry))) : null;
    ownerPaths = new OwnerPaths(owners, stacks, shape.group());
    shaper = new Shaper(shape, stacks);
    watch = new SelectedNodeSums(this);
  }

  @Override
  public boolean isGuessed(int node) {
    return guessed.get(node);
  }

  @Override
  public boolean isEmptied(int node) {
    return passing.items[node] == 0;
  }

  @Override
  public int child(int node, int function) {
    return find(node, function);
  }

  /** Sets the bit of each node between two, both included, whose parent has its bit set. */
  void spread(long[] bits, int from, int to) {
    long[] above = keys.items;
    for (int node = from; node <= to; node++) {
      int p = (int) (above[node] >> 32);
      bits[node >>> 6] |= (bits[p >>> 6] >>> p & 1) << node;
    }
  }

  @Override
  public long weight(int node, int states) {
    estimated();
    if (node != ROOT) {
      return nodeSums.of(states, nanos, nanosAt)[node];
    }
    long sum = 0;
    for (int state = 0; state < STATES; state++) {
      sum += (states >> state & 1) != 0 ? rootNanos[state] : 0;
    }
    return sum;
  }

  /** ns of the {@linkplain SelectedNodeSums watched} node by state. */
  long[] watchedNanos() {
    estimated();
    return watch.node() == ROOT ? rootNanos.clone() : byState(watch::holds);
  }

  private long[] byState(IntPredicate counts) {
    long[] sums = new long[STATES];
    for (int entry = 0; entry < entries(); entry++) {
      if (counts.test(entry)) {
        for (int slot = entrySums.first(entry); slot >= 0; slot = entrySums.next(slot)) {
          sums[Spot.state(entrySums.kind(slot))] += nanos[slot];
        }
      }
    }
    for (int state = 0; state < STATES; state++) {
      sums[state] = (shape.states() >> state & 1) != 0 ? sums[state] : 0;
    }
    return sums;
  }

  @Override
  public boolean hasBaseline() {
    return held != null;
  }

  @Override
  public long baseline(int node, int states) {
    return (long) (held(node, states) * fold.baselineScale());
  }

  /** ns of a node in the window that was held; 0 if no window is. */
  long held(int node, int states) {
    return held == null ? 0 : heldSums.of(states, held, paths)[node];
  }

  /** Compares later windows with the window as it is now, or with none. */
  void hold(boolean on) {
    held = on ? estimated().clone() : null;
    changes++;
    paths++;
  }

  /** By slot of the sums: ns in the window of the fold. */
  private long[] estimated() {
    Window window = fold.window();
    if (nanosAt != changes || !window.equals(nanosOf)) {
      nanos = estimate.of(slot -> entrySums.amount(slot, window), nanos);
      nanosOf = window;
      nanosAt = ++changes;
      rootNanos = byState(entry -> leaf(entry) != NONE);
    }
    return nanos;
  }

  /** How sure the time of the {@linkplain SelectedNodeSums watched} node is. */
  Selection.Certainty certainty(int states) {
    estimated();
    return estimate.certainty(watch::holds, states & shape.states(), fold.window());
  }

  /** Begins the window before where that window ends: at the tail. */
  void beginAtTail() {
    entrySums.beginAtTail();
  }

  /** Forgets the window before. */
  void endBegin() {
    entrySums.endBegin();
    before = new long[0];
  }

  /** The beginning of the window before passed this change. */
  void begin(int owner, int stack, int spot, long base, int open) {
    int entry = entry(owner, stack, spot);
    entrySums.addBegin(entry, Spot.kind(spot), base, open);
  }

  /**
   * ns of the window before: of the watched node, and of all.
   *
   * @param begin the time up to which stays are told where that window begins, ns
   */
  long[] before(int states, long begin) {
    Window window = fold.window();
    before = estimateBefore.of(slot -> entrySums.before(slot, window, begin), before);
    long[] sums = new long[2];
    for (int entry = 0; entry < entries(); entry++) {
      if (leaf(entry) != NONE) {
        long value = entryNanos(entry, states, before);
        sums[0] += watch.holds(entry) ? value : 0;
        sums[1] += value;
      }
    }
    return sums;
  }

  /** Adds up the ns of entries, which are given by slot, for each node. */
  void addUp(int states, long[] ofEntries, long[] to) {
    int[] leaves = entryLeaf.items;
    for (int entry = 0; entry < entries(); entry++) {
      if (leaves[entry] != NONE) {
        to[leaves[entry]] += entryNanos(entry, states, ofEntries);
      }
    }
    long[] above = keys.items;
    for (int node = nodes() - 1; node > ROOT; node--) {
      to[(int) (above[node] >> 32)] += to[node];
    }
  }

  private long entryNanos(int entry, int states, long[] nanos) {
    int shown = states & shape.states();
    long sum = 0;
    for (int slot = entrySums.first(entry); slot >= 0; slot = entrySums.next(slot)) {
      if (slot < nanos.length && (shown & 1 << Spot.state(entrySums.kind(slot))) != 0) {
        sum += nanos[slot];
      }
    }
    return sum;
  }

  int entries() {
    return entryOwner.size;
  }

  /** The owner of an entry: one task's by thread, else the owner of all of the process. */
  int owner(int entry) {
    return entryOwner.items[entry];
  }

  int stack(int entry) {
    return (int) entryKeys.key(entry);
  }

  /** The pool whose samples place the time of an entry. */
  int pool(int entry) {
    return entryPool.items[entry];
  }

  /** All pools are below. */
  int pools() {
    return pools.size();
  }

  /** The node at the end of an entry's path; -1 if the shape leaves the entry out. */
  int leaf(int entry) {
    return entryLeaf.items[entry];
  }

  /** ns of an entry in the window. */
  long entryWeight(int entry, int states) {
    return entryNanos(entry, states, estimated());
  }

  /** ns that are known of an entry in the window, whatever samples say. */
  long entryKnown(int entry, int states) {
    return entrySums.weight(entry, states & shape.states(), fold.window());
  }

  /** Passes and samples that saw an entry in the window. */
  long entrySamples(int entry, int states) {
    int shown = states & shape.states();
    return entrySums.samples(entry, shown | Spot.sampledKinds(shown), fold.window());
  }

  void head(int owner, int stack, int spot, long base, int open, long samples) {
    changes++;
    int entry = entry(owner, stack, spot);
    entrySums.addHead(entry, Spot.kind(spot), base, open, samples);
    if (idle != null && isSleep(stack, spot)) {
      idle.passed(entry);
    }
  }

  void tail(int owner, int stack, int spot, long base, int open, long samples) {
    changes++;
    entrySums.addTail(entry(owner, stack, spot), Spot.kind(spot), base, open, samples);
  }

  /**
   * The entry of an owner and a stack, on a CPU where CPUs are told apart, and asleep or not where
   * idle threads are folded; made if need be.
   */
  private int entry(int anyOwner, int stack, int spot) {
    int owner = shape.group() == RootOrder.THREAD ? anyOwner : owners.group(anyOwner);
    boolean tellsCpus = shape.tellsCpus();
    int place = tellsCpus ? place(Spot.cpu(spot)) : Shape.NO_CPU;
    int who = tellsCpus ? pairs.row((long) owner << 32 | place - LEFT_OUT) : owner;
    boolean sleeps = idle != null && isSleep(stack, spot);
    int entry = entryKeys.row((long) (sleeps ? ~who : who) << 32 | stack & 0xFFFFFFFFL);
    if (entry == entries()) {
      changes++;
      paths++;
      entryOwner.add(owner);
      entryPool.add(poolOf(owner));
      if (tellsCpus) {
        entryCpu.add(place);
      }
      entryNext.add(stack < 0 ? NONE : stackEntry.get(stack));
      if (stack >= 0) {
        stackEntry.set(stack, entry);
      }
      entryLeaf.add(leafOf(entry));
    }
    return entry;
  }

  /** Tells whether a change is of sleep in a known stack: such time has entries of its own. */
  private static boolean isSleep(int stack, int spot) {
    return stack >= 0 && Spot.state(spot) == SLEEP;
  }

  /** Tells whether an entry has only time asleep. */
  private boolean isSleep(int entry) {
    return entryKeys.key(entry) < 0;
  }

  /** Tells whether the graph draws {@code [idle]} in place of the stack of an entry. */
  private boolean isIdle(int entry) {
    return idle != null && isSleep(entry) && idle.isIdle(entry);
  }

  /**
   * Judges anew which entries are idle, by what the head has passed until now, ns.
   *
   * @return whether a path changed
   */
  boolean lookAtSleep(long now) {
    return idle != null && idle.look(now, this::move);
  }

  private int poolOf(int owner) {
    return pools.computeIfAbsent(ownerPaths.pool(owner), key -> pools.size());
  }

  /** The CPU that an entry stands for. */
  private int place(int cpu) {
    if (shape.narrowsCpus() && !shape.admitsCpu(cpu)) {
      return LEFT_OUT;
    }
    return shape.group() == RootOrder.CPU ? cpu : Shape.NO_CPU;
  }

  /** The leaf of the path of an entry as its names are now; counts the entry along the path. */
  private int leafOf(int entry) {
    int above = path(entry, roots);
    if (above < 0) {
      return NONE;
    }
    int node = ROOT;
    passing.items[node]++;
    for (int i = 0; i < path.size; i++) {
      node = make(node, path.items[i]);
      if (node == passing.size) {
        passing.add(0);
      }
      passing.items[node]++;
      int origin = i < above ? NONE : origins.items[i - above];
      if (origin != NONE && pathGuessed.items[origin] != 0) {
        guessed.set(node);
      }
    }
    return node;
  }

  /**
   * Makes {@link #path}, with the {@link #origins} of its frames.
   *
   * @return how many nodes stand above the frames; -1 if the shape leaves the stack out
   */
  private int path(int entry, boolean withRoots) {
    int cpu = entryCpu.get(entry);
    if (shape.narrowsCpus() && cpu == LEFT_OUT) {
      return NONE;
    }
    path.clear();
    pathGuessed.clear();
    ownerPaths.append(owner(entry), cpu, path);
    int above = path.size;
    if (isIdle(entry)) {
      path.add(Stacks.IDLE);
      pathGuessed.add(0);
    } else {
      stacks.path(stack(entry), withRoots, path, pathGuessed);
    }
    return shaper.shape(path, above, origins) ? above : NONE;
  }

  /**
   * The functions of the path of an entry; null if the shape leaves the entry out.
   *
   * @param withRoots whether the path has frames that only say that nothing called them
   */
  int @Nullable [] functions(int entry, boolean withRoots) {
    return path(entry, withRoots) < 0 ? null : path.toArray();
  }

  /** The filter that admits only the stacks of a node; null where nothing does. */
  Shape.@Nullable Filter filter(int node) {
    return ownerPaths.filter(this, node);
  }

  /** A stack has another path than before. */
  void renamed(int stack) {
    for (int entry = stackEntry.get(stack); entry != NONE; entry = entryNext.items[entry]) {
      move(entry);
    }
  }

  /** An entry has another path than before. */
  private void move(int entry) {
    changes++;
    paths++;
    int from = leaf(entry);
    int to = leafOf(entry);
    entryLeaf.items[entry] = to;
    for (int node = from; node != NONE; node = parent(node)) {
      passing.items[node]--;
    }
    if (from != NONE && to != NONE) {
      left.left(from, to, entryNanos(entry, StateSet.ALL.bits(), nanos));
    }
  }

  /** The frame at a depth of an entry's path; -1 if no frame is there. */
  int frame(int entry, int depth) {
    int above = path(entry, roots);
    int index = above < 0 ? NONE : depth - 1 - above;
    int origin = index < 0 || index >= origins.size ? NONE : origins.items[index];
    return origin < 0 || isIdle(entry) ? NONE : stacks.frame(stack(entry), roots, origin);
  }

  /** The node itself, or where its heaviest stack went if all stacks left the node. */
  @Override
  public int follow(int node) {
    return left.follow(node);
  }

  /** Forgets all that is known of functions by number: numbers were freed. */
  void functionsFreed() {
    shaper.forget();
  }

  @Override
  public Paths paths() {
    return paths(left.all());
  }

  /** Adds the owners, stacks and functions that entries and nodes refer to. */
  void mark(BitSet owners, BitSet stacks, BitSet functions) {
    for (int entry = 0; entry < entries(); entry++) {
      owners.set(owner(entry));
      if (stack(entry) >= 0) {
        stacks.set(stack(entry));
      }
    }
    for (int node = 0; node < nodes(); node++) {
      functions.set(function(node));
    }
  }

  /** Whether more than half of the trie, and more than {@code least}, is empty. */
  boolean mostlyEmpty(int least) {
    long empty = IntStream.range(0, entries()).filter(entrySums::isZero).count();
    long unused = IntStream.range(0, nodes()).filter(this::isEmptied).count();
    return empty > Math.max(least, entries() / 2) || unused > Math.max(least, nodes() / 2);
  }

  /** Memory of the trie, about. */
  long bytes() {
    return 250L * entries() + 70L * nodes();
  }

  /** Entries and nodes. */
  int size() {
    return entries() + nodes();
  }

  /** Entries whose path goes through a node. */
  int passing(int node) {
    return passing.items[node];
  }
}
