package flametop.profile.live;

import flametop.profile.answer.Function;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Selection;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.log.Owners;
import flametop.profile.log.Spot;
import flametop.profile.log.Stacks;
import flametop.profile.log.Sums;
import flametop.profile.log.Window;
import flametop.profile.tree.IntList;
import flametop.profile.tree.LongTable;
import flametop.profile.tree.Room;
import flametop.profile.tree.Shaper;
import flametop.sampler.State;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;

/**
 * The call tree of what its cursors have passed. Nodes are numbered as they come, so a parent is
 * always below its children; a node's key is (parent, function), its number stays while the trie
 * lives. Sums are kept per entry, which is (owner, stack); the time of entries is estimated when a
 * window is read ({@link Estimate}), and only then added up along their paths. An entry that the
 * shape leaves out has no path: its samples count for its pool.
 */
public final class Trie {
  private static final int ROOT = 0;
  private static final int NONE = -1;

  private static final int STATES = State.values().length;

  /** Instead of a CPU: none that is shown. */
  private static final int LEFT_OUT = Shape.NO_CPU - 1;

  private final Owners owners;
  private final Stacks stacks;
  private final RootOrder order;
  private final boolean reversed;
  private final Shape shape;
  private final Shaper shaper;
  private final boolean roots;

  private int nodes;
  private int[] parent = new int[1024];
  private int[] function = new int[1024];
  private int[] firstChild = new int[1024];
  private int[] sibling = new int[1024];
  private int[] passing = new int[1024];
  private boolean[] guessed = new boolean[1024];
  private LongTable children = new LongTable();

  private int entries;
  private int[] entryOwner = new int[1024];
  private int[] entryStack = new int[1024];

  /** Only where the shape tells CPUs apart. */
  private int[] entryCpu = new int[0];

  /** Its time is placed by the samples of this pool. */
  private int[] entryPool = new int[1024];

  private final Map<Object, Integer> pools = new HashMap<>();

  private final LongTable pairs = new LongTable();
  private int pairCount;
  private int[] entryLeaf = new int[1024];
  private int[] entryNext = new int[1024];
  private LongTable entryIndex = new LongTable();
  private Sums entrySums = new Sums(true);
  private int[] stackEntry = new int[1024];
  private Estimate estimate = new Estimate(entrySums, new PooledEntries());

  /** Of the window before. */
  private Estimate estimateBefore = new Estimate(entrySums, new PooledEntries());

  /** Another one than before where any sum or path may have changed. */
  private long changes;

  /** Another one than before where any path may have changed. */
  private long paths;

  /** By slot of the sums: ns in the window that was read last; see {@link #estimated}. */
  private long[] nanos = new long[0];

  /** ns of all in it, by state. */
  private long[] rootNanos;

  private Window nanosOf;
  private long nanosAt = -1;

  /** By slot of the sums: ns in the window before. */
  private long[] before = new long[0];

  /** By slot of the sums: ns in the window that others are compared with; null if there is none. */
  private long[] held;

  private NodeSums nodeSums = new NodeSums();

  /** Those of {@link #held}. */
  private NodeSums heldSums = new NodeSums();

  /** Where the heaviest entry went that left a node. */
  private final Map<Integer, long[]> moved = new HashMap<>();

  private final SelectedNodeSums watch;

  private final IntList path = new IntList();
  private final IntList pathGuessed = new IntList();
  private final IntList origins = new IntList();

  /**
   * @param roots whether frames are kept that only say that nothing called them
   */
  Trie(Owners owners, Stacks stacks, Shape shape, boolean roots) {
    this.owners = owners;
    this.stacks = stacks;
    order = shape.group();
    reversed = shape.reversed();
    this.shape = shape;
    shaper = new Shaper(shape, stacks);
    this.roots = roots;
    watch = new SelectedNodeSums(this);
    Arrays.fill(stackEntry, NONE);
    node(NONE, Stacks.ALL);
  }

  int nodes() {
    return nodes;
  }

  int parent(int node) {
    return parent[node];
  }

  int function(int node) {
    return function[node];
  }

  int firstChild(int node) {
    return firstChild[node];
  }

  int sibling(int node) {
    return sibling[node];
  }

  boolean guessed(int node) {
    return guessed[node];
  }

  /** Sets the bit of each node between two, both included, whose parent has its bit set. */
  void spread(long[] bits, int from, int to) {
    int[] above = parent;
    for (int node = from; node <= to; node++) {
      int p = above[node];
      bits[node >>> 6] |= (bits[p >>> 6] >>> p & 1) << node;
    }
  }

  /** What can be told of one node by process. */
  SelectedNodeSums watch() {
    return watch;
  }

  /** Whether frames are kept that only say that nothing called them. */
  boolean roots() {
    return roots;
  }

  /** ns of a node in a window. */
  long weight(int node, int states, Window window) {
    estimated(window);
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
  long[] watchedNanos(Window window) {
    estimated(window);
    return watch.node() == ROOT ? rootNanos.clone() : byState(watch::holds);
  }

  private long[] byState(IntPredicate counts) {
    long[] sums = new long[STATES];
    for (int entry = 0; entry < entries; entry++) {
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

  /** ns of a node in the window that was held; 0 if none is. */
  long baseline(int node, int states) {
    return held == null ? 0 : heldSums.of(states, held, paths)[node];
  }

  /** What the window has now is what later ones are compared with; null: nothing is any more. */
  void hold(Window window) {
    held = window == null ? null : estimated(window).clone();
    changes++;
    paths++;
  }

  /** By slot of the sums: ns in a window. */
  private long[] estimated(Window window) {
    if (nanosAt != changes || !window.equals(nanosOf)) {
      nanos = estimate.of(slot -> entrySums.amount(slot, window), nanos);
      nanosOf = window;
      nanosAt = ++changes;
      rootNanos = byState(entry -> entryLeaf[entry] != NONE);
    }
    return nanos;
  }

  /** How sure the time of a node is that is {@linkplain SelectedNodeSums watched}. */
  Selection.Certainty certainty(int states, Window window) {
    estimated(window);
    return estimate.certainty(watch::holds, states & shape.states(), window);
  }

  /** The window before begins where it ends: at the tail. */
  void beginAtTail() {
    entrySums.beginAtTail();
  }

  /** Nobody asks for the window before any more. */
  void endBegin() {
    if (entrySums != null) {
      entrySums.endBegin();
      before = new long[0];
    }
  }

  /** The beginning of the window before passed this. */
  void begin(int owner, int stack, int spot, long base, int open) {
    int entry = entry(owner, stack, Spot.cpu(spot));
    entrySums.addBegin(entry, Spot.kind(spot), base, open);
  }

  /**
   * What the window before had, ns: the watched node, and all.
   *
   * @param begin when it began, ns
   */
  long[] before(int states, Window window, long begin) {
    before = estimateBefore.of(slot -> entrySums.before(slot, window, begin), before);
    long[] sums = new long[2];
    for (int entry = 0; entry < entries; entry++) {
      if (entryLeaf[entry] != NONE) {
        long value = entryNanos(entry, states, before);
        sums[0] += watch.holds(entry) ? value : 0;
        sums[1] += value;
      }
    }
    return sums;
  }

  private final class PooledEntries implements Estimate.Entries {
    @Override
    public int count() {
      return entries;
    }

    @Override
    public int pool(int entry) {
      return entryPool[entry];
    }

    @Override
    public int pools() {
      return pools.size();
    }

    @Override
    public int stack(int entry) {
      return entryStack[entry];
    }
  }

  /** Sums of nodes, by states that were asked for; made when they are. */
  private final class NodeSums {
    private final IntList asked = new IntList();
    private final List<long[]> sums = new ArrayList<>();
    private int made;
    private long of = -1;

    /**
     * @param nanos of entries, by slot
     * @param version another one if those may be others
     */
    long[] of(int states, long[] nanos, long version) {
      if (of != version) {
        of = version;
        made = 0;
      }
      for (int i = 0; i < made; i++) {
        if (asked.items[i] == states) {
          return sums.get(i);
        }
      }
      if (made == sums.size()) {
        sums.add(new long[0]);
        asked.add(0);
      }
      asked.items[made] = states;
      sums.set(made, addUp(states, nanos, sums.get(made)));
      return sums.get(made++);
    }

    private long[] addUp(int states, long[] nanos, long[] to) {
      long[] sum = to;
      if (sum.length < nodes) {
        sum = new long[Room.after(nodes)];
      } else {
        Arrays.fill(sum, 0, nodes, 0);
      }
      for (int entry = 0; entry < entries; entry++) {
        if (entryLeaf[entry] != NONE) {
          sum[entryLeaf[entry]] += entryNanos(entry, states, nanos);
        }
      }
      // A parent is below its children.
      for (int node = nodes - 1; node > ROOT; node--) {
        sum[parent[node]] += sum[node];
      }
      return sum;
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
    return entries;
  }

  /** An owner of the entry: one task's by thread, else one of its process. */
  int owner(int entry) {
    return entryOwner[entry];
  }

  int stack(int entry) {
    return entryStack[entry];
  }

  /** Where its path ends; -1 if it is left out. */
  int leaf(int entry) {
    return entryLeaf[entry];
  }

  /** ns of an entry in a window. */
  long entryWeight(int entry, int states, Window window) {
    return entryNanos(entry, states, estimated(window));
  }

  /** ns that are known of an entry in a window, whatever samples say. */
  long entryKnown(int entry, int states, Window window) {
    return entrySums.weight(entry, states & shape.states(), window);
  }

  /** Passes and samples that saw an entry in a window. */
  long entrySamples(int entry, int states, Window window) {
    int shown = states & shape.states();
    return entrySums.samples(entry, shown | Spot.sampledKinds(shown), window);
  }

  void head(int owner, int stack, int spot, long base, int open, long samples) {
    changes++;
    entrySums.addHead(entry(owner, stack, Spot.cpu(spot)), Spot.kind(spot), base, open, samples);
  }

  void tail(int owner, int stack, int spot, long base, int open, long samples) {
    changes++;
    entrySums.addTail(entry(owner, stack, Spot.cpu(spot)), Spot.kind(spot), base, open, samples);
  }

  /**
   * The entry of an owner and a stack, on a CPU if CPUs are told apart; a new one if there is none.
   */
  private int entry(int anyOwner, int stack, int cpu) {
    int owner = order == RootOrder.THREAD ? anyOwner : owners.group(anyOwner);
    int place = place(cpu);
    int who = shape.tellsCpus() ? pair(owner, place) : owner;
    long key = (long) who << 32 | stack & 0xFFFFFFFFL;
    int entry = entryIndex.get(key);
    if (entry != LongTable.NONE) {
      return entry;
    }
    changes++;
    paths++;
    entry = entries++;
    if (entry == entryOwner.length) {
      entryOwner = Arrays.copyOf(entryOwner, Room.after(entry));
      entryStack = Arrays.copyOf(entryStack, Room.after(entry));
      entryLeaf = Arrays.copyOf(entryLeaf, Room.after(entry));
      entryNext = Arrays.copyOf(entryNext, Room.after(entry));
      entryPool = Arrays.copyOf(entryPool, Room.after(entry));
    }
    entryIndex.put(key, entry);
    entrySums.things(entries);
    entryOwner[entry] = owner;
    entryPool[entry] = pool(owner);
    if (shape.tellsCpus()) {
      if (entry >= entryCpu.length) {
        entryCpu = Arrays.copyOf(entryCpu, Math.max(1024, Room.after(entry)));
      }
      entryCpu[entry] = place;
    }
    entryStack[entry] = stack;
    entryNext[entry] = NONE;
    if (stack >= 0) {
      if (stack >= stackEntry.length) {
        int length = stackEntry.length;
        stackEntry = Arrays.copyOf(stackEntry, Math.max(stack + 1, Room.after(length)));
        Arrays.fill(stackEntry, length, stackEntry.length, NONE);
      }
      entryNext[entry] = stackEntry[stack];
      stackEntry[stack] = entry;
    }
    entryLeaf[entry] = leafOf(entry);
    return entry;
  }

  /** Whose samples place the time of an owner: what the graph shows below all. */
  private int pool(int owner) {
    Object key =
        owner == Owners.OLDER
            ? "older"
            : switch (order) {
              case THREAD -> owner;
              case PROCESS -> List.of(owners.process(owner), owners.processComm(owner));
              case CGROUP -> List.of(owners.cgroup(owner), owners.processComm(owner));
              case NONE, CPU, COMM -> List.of(owners.processComm(owner));
            };
    Integer pool = pools.putIfAbsent(key, pools.size());
    return pool == null ? pools.size() - 1 : pool;
  }

  /** What an entry tells of its CPU. */
  private int place(int cpu) {
    if (shape.narrowsCpus() && !shape.admitsCpu(cpu)) {
      return LEFT_OUT;
    }
    return order == RootOrder.CPU ? cpu : Shape.NO_CPU;
  }

  /** One number for an owner on a CPU. */
  private int pair(int owner, int place) {
    long key = (long) owner << 32 | place - LEFT_OUT;
    int pair = pairs.get(key);
    if (pair == LongTable.NONE) {
      pair = pairCount++;
      pairs.put(key, pair);
    }
    return pair;
  }

  /** The leaf of the path of an entry as its names are now; counts the entry along it. */
  private int leafOf(int entry) {
    int above = path(entry, roots);
    if (above < 0) {
      return NONE;
    }
    int node = ROOT;
    passing[node]++;
    for (int i = 0; i < path.size; i++) {
      node = child(node, path.items[i]);
      passing[node]++;
      int origin = i < above ? NONE : origins.items[i - above];
      if (origin != NONE && pathGuessed.items[origin] != 0) {
        guessed[node] = true;
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
    if (shape.narrowsCpus() && entryCpu[entry] == LEFT_OUT) {
      return NONE;
    }
    path.clear();
    pathGuessed.clear();
    rootPath(entry, path);
    int above = path.size;
    stacks.path(entryStack[entry], withRoots, path, pathGuessed);
    return shaper.shape(path, above, origins) ? above : NONE;
  }

  /**
   * Appends the path of an entry.
   *
   * @param withRoots whether frames that only say that nothing called them are in it
   * @return false if the shape leaves it out
   */
  boolean path(int entry, boolean withRoots, IntList to) {
    if (path(entry, withRoots) < 0) {
      return false;
    }
    for (int i = 0; i < path.size; i++) {
      to.add(path.items[i]);
    }
    return true;
  }

  /** Appends what stands between the root and the frames. */
  private void rootPath(int entry, IntList to) {
    int owner = entryOwner[entry];
    if (owner == Owners.OLDER && order != RootOrder.CPU) {
      return;
    }
    switch (order) {
      case NONE -> {}
      case CPU ->
          to.add(
              stacks.function(
                  NodeKind.THREAD,
                  "",
                  entryCpu[entry] == Shape.NO_CPU ? "[no cpu]" : "cpu " + entryCpu[entry]));
      case COMM -> to.add(stacks.function(NodeKind.PROCESS, "", owners.processComm(owner)));
      case PROCESS -> to.add(process(owner));
      case THREAD -> {
        to.add(process(owner));
        int tid = owners.tid(owner);
        if (tid != Owners.NONE) {
          to.add(stacks.function(NodeKind.THREAD, "", owners.comm(owner) + "-" + tid));
        }
      }
      case CGROUP -> {
        cgroups(owners.cgroup(owner), to);
        to.add(stacks.function(NodeKind.PROCESS, "", owners.processComm(owner)));
      }
    }
  }

  /** Appends a node for each name of a path; the root is one only by itself. */
  private void cgroups(String path, IntList to) {
    if (!path.startsWith("/") || path.length() == 1) {
      to.add(stacks.function(NodeKind.CGROUP, "", path));
      return;
    }
    for (int from = 1; from <= path.length(); ) {
      int slash = path.indexOf('/', from);
      int end = slash < 0 ? path.length() : slash;
      if (end > from) {
        to.add(stacks.function(NodeKind.CGROUP, "", path.substring(from, end)));
      }
      from = end + 1;
    }
  }

  private int process(int owner) {
    int tgid = owners.tgid(owners.process(owner));
    String number = tgid == Owners.NO_TGID ? "[older]" : Integer.toString(tgid);
    return stacks.function(NodeKind.PROCESS, "", owners.processComm(owner) + "-" + number);
  }

  /** What admits only what a node is of; null if nothing does. */
  Shape.Filter filter(int node) {
    NodeKind kind = stacks.kind(function[node]);
    String name = stacks.name(function[node]);
    return switch (kind) {
      case ROOT -> null;
      case PROCESS -> {
        boolean isComm = order == RootOrder.COMM || order == RootOrder.CGROUP;
        int tgid = isComm ? NONE : number(name, "-");
        yield isComm
            ? new Shape.Comms(Set.of(name), false)
            : tgid < 0 ? null : new Shape.Processes(Set.of(tgid), false);
      }
      case THREAD -> {
        boolean isCpu = order == RootOrder.CPU;
        int number = number(name, isCpu ? " " : "-");
        yield number < 0
            ? null
            : isCpu
                ? new Shape.Cpus(Set.of(number), false)
                : new Shape.Threads(Set.of(number), false);
      }
      case CGROUP -> {
        String path = cgroup(node);
        yield path == null ? null : new Shape.Cgroups(Set.of(path), false);
      }
      case USER, KERNEL, JIT, INLINED, UNKNOWN, REASON ->
          function[node] == Stacks.NAMING
              ? null
              : new Shape.Through(new Function(kind, stacks.module(function[node]), name), false);
    };
  }

  /** Path of the control group of a node; null of one for all of which none is known. */
  private String cgroup(int node) {
    String name = stacks.name(function[node]);
    if (parent[node] == ROOT && (name.equals("/") || name.startsWith("["))) {
      return name.equals("/") ? name : null;
    }
    StringBuilder path = new StringBuilder();
    for (int n = node; n != ROOT; n = parent[n]) {
      path.insert(0, stacks.name(function[n])).insert(0, '/');
    }
    return path.toString();
  }

  /** The number at the end of a name of {@link #rootPath}; -1 if there is none. */
  private static int number(String name, String before) {
    String end = name.substring(name.lastIndexOf(before) + 1);
    return end.matches("\\d{1,9}") ? Integer.parseInt(end) : NONE;
  }

  private int child(int node, int function) {
    int child = children.get((long) node << 32 | function);
    return child != LongTable.NONE ? child : node(node, function);
  }

  private int node(int above, int of) {
    int node = nodes++;
    if (node == parent.length) {
      parent = Arrays.copyOf(parent, Room.after(node));
      function = Arrays.copyOf(function, Room.after(node));
      firstChild = Arrays.copyOf(firstChild, Room.after(node));
      sibling = Arrays.copyOf(sibling, Room.after(node));
      passing = Arrays.copyOf(passing, Room.after(node));
      guessed = Arrays.copyOf(guessed, Room.after(node));
    }
    parent[node] = above;
    function[node] = of;
    firstChild[node] = NONE;
    sibling[node] = NONE;
    if (above != NONE) {
      sibling[node] = firstChild[above];
      firstChild[above] = node;
      children.put((long) above << 32 | of, node);
    }
    return node;
  }

  /** The path of a stack is another than before. */
  void renamed(int stack) {
    if (stack >= stackEntry.length) {
      return;
    }
    changes++;
    paths++;
    for (int entry = stackEntry[stack]; entry != NONE; entry = entryNext[entry]) {
      int from = entryLeaf[entry];
      int to = leafOf(entry);
      entryLeaf[entry] = to;
      for (int node = from; node != NONE; node = parent[node]) {
        passing[node]--;
      }
      if (from != NONE && to != NONE) {
        left(from, to, entryNanos(entry, StateSet.ALL.bits(), nanos));
      }
    }
  }

  private void left(int from, int to, long weight) {
    int depth = depth(from);
    int toDepth = depth(to);
    int there = to;
    for (; toDepth > depth; toDepth--) {
      there = parent[there];
    }
    for (int node = from; node != there && node != NONE; node = parent[node], depth--) {
      for (; toDepth > depth; toDepth--) {
        there = parent[there];
      }
      long[] heaviest = moved.get(node);
      if (heaviest == null || weight >= heaviest[1]) {
        moved.put(node, new long[] {there, weight});
      }
    }
  }

  /** The frame at this depth of an entry's path; -1 if no frame is there. */
  int frame(int entry, int depth) {
    int above = path(entry, roots);
    int index = above < 0 ? NONE : depth - 1 - above;
    int origin = index < 0 || index >= origins.size ? NONE : origins.items[index];
    return origin < 0 ? NONE : stacks.frame(entryStack[entry], roots, origin);
  }

  int depth(int node) {
    int depth = 0;
    for (int n = parent[node]; n != NONE; n = parent[n]) {
      depth++;
    }
    return depth;
  }

  /** The node itself, or where its heaviest stack went if all left it. */
  int follow(int node) {
    int at = node;
    for (int steps = 0; steps < 64 && passing[at] == 0; steps++) {
      long[] to = moved.get(at);
      if (to == null) {
        return at;
      }
      at = (int) to[0];
    }
    return at;
  }

  /** Numbers of functions may mean others from now on. */
  void functionsFreed() {
    shaper.forget();
  }

  /** Keeps only the paths of its nodes, for {@link #find}. */
  void retire() {
    entrySums = null;
    estimate = null;
    estimateBefore = null;
    nodeSums = null;
    heldSums = null;
    nanos = null;
    before = null;
    held = null;
    entries = 0;
    entryOwner = null;
    entryStack = null;
    entryLeaf = null;
    entryNext = null;
    entryPool = null;
    entryIndex = null;
    stackEntry = new int[0];
    children = null;
    firstChild = null;
    sibling = null;
    guessed = null;
  }

  /** Adds what its entries and nodes refer to. */
  void mark(BitSet owners, BitSet stacks, BitSet functions) {
    for (int entry = 0; entry < entries; entry++) {
      owners.set(entryOwner[entry]);
      if (entryStack[entry] >= 0) {
        stacks.set(entryStack[entry]);
      }
    }
    for (int node = 0; node < nodes; node++) {
      functions.set(function[node]);
    }
  }

  /**
   * Whether more than half of it, and more than {@code least}, is empty: only a new trie is
   * without.
   */
  boolean mostlyEmpty(int least) {
    int empty = 0;
    for (int entry = 0; entry < entries; entry++) {
      empty += entrySums.isZero(entry) ? 1 : 0;
    }
    int unused = 0;
    for (int node = 0; node < nodes; node++) {
      unused += passing[node] == 0 ? 1 : 0;
    }
    return empty > Math.max(least, entries / 2) || unused > Math.max(least, nodes / 2);
  }

  /** Memory that it takes, about. */
  long bytes() {
    return 250L * entries + 70L * nodes;
  }

  /** Entries and nodes. */
  int size() {
    return entries + nodes;
  }

  /** Entries whose path goes through a node. */
  int passing(int node) {
    return passing[node];
  }

  /**
   * The node that stands here for a node of another trie: that with the path which this shape makes
   * of its, or with as much of it as there is; below another group the heaviest. Where innermost
   * frames were last and now are first, or the other way round, the heaviest of the same function.
   */
  int find(Trie other, int node, Window window) {
    IntList there = new IntList();
    for (int n = node; n != ROOT; n = other.parent[n]) {
      there.add(other.function[n]);
    }
    path.clear();
    for (int i = there.size - 1; i >= 0; i--) {
      path.add(there.items[i]);
    }
    int above = 0;
    while (above < path.size && isOwner(path.items[above])) {
      above++;
    }
    if (reversed != other.reversed && above < path.size) {
      return heaviest(path.items[path.size - 1], above, window);
    }
    if (shaper.keepsOrder()) {
      shaper.shape(path, above, origins);
    }
    if (order == other.order) {
      return descend(ROOT, 0);
    }
    int found = ROOT;
    int most = 0;
    IntList due = new IntList();
    due.add(ROOT);
    while (due.size > 0) {
      int top = due.items[--due.size];
      for (int child = firstChild[top]; child != NONE; child = sibling[child]) {
        if (isOwner(function[child])) {
          due.add(child);
        }
      }
      int at = descend(top, above);
      int frames = depth(at) - depth(top);
      if (frames > most || frames == most && frames > 0 && heavier(at, found, window)) {
        found = at;
        most = frames;
      }
    }
    return found;
  }

  /**
   * A node of a function: below the first {@code above} nodes of {@link #path} if it is there, else
   * anywhere; those nodes, as far as they are there, if it is nowhere. Of several the heaviest, of
   * callers that with nothing below it.
   */
  private int heaviest(int of, int above, Window window) {
    path.size = above;
    int top = descend(ROOT, 0);
    int best = NONE;
    int most = 0;
    for (int node = 0; node < nodes; node++) {
      if (function[node] == of && passing[node] > 0) {
        boolean weighs = weight(node, StateSet.ALL.bits(), window) > 0;
        boolean first = reversed && (parent[node] == ROOT || isOwner(function[parent[node]]));
        int rank = (weighs ? 4 : 0) + (isBelow(node, top) ? 2 : 0) + (first ? 1 : 0);
        if (best == NONE || rank > most || rank == most && heavier(node, best, window)) {
          best = node;
          most = rank;
        }
      }
    }
    return best == NONE ? top : best;
  }

  private boolean isBelow(int node, int top) {
    int at = node;
    while (at > top) {
      at = parent[at];
    }
    return at == top;
  }

  private boolean heavier(int a, int b, Window window) {
    int all = StateSet.ALL.bits();
    return weight(a, all, window) > weight(b, all, window);
  }

  private boolean isOwner(int of) {
    return stacks.kind(of).isOwner();
  }

  /** Goes down from a node by what {@link #path} has from an index on, as far as there is. */
  private int descend(int from, int index) {
    int at = from;
    for (int i = index; i < path.size; i++) {
      int child = children.get((long) at << 32 | path.items[i]);
      if (child == LongTable.NONE) {
        break;
      }
      at = child;
    }
    return at;
  }
}
