package flametop.profile;

import java.util.Arrays;

/**
 * The call tree of folded stacks, in arrays by node. Stacks are only ever added; what is below a
 * node is summed up when the tree is read, a pass over the array from its end.
 *
 * <p>It counts two sums for each node, of which the second is compared with the first: that of a
 * single file is only now.
 */
final class StackTree extends ArrayTree {
  /** What is looked at, and what it is compared with. */
  static final int NOW = 0;

  static final int BEFORE = 1;

  private static final int FIRST_CAPACITY = 1 << 12;
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  /** What a node costs at most, while the arrays grow, B. */
  private static final int NODE_BYTES = 128;

  private final int mostNodes;
  private int capacity = FIRST_CAPACITY;

  /** The child that was asked for last, a good guess for the next time; 0 is none. */
  private int[] recent = new int[capacity];

  private long[] own = new long[capacity];

  // Null as long as nothing is compared.
  private long[] ownBefore;
  private long[] sumBefore;

  /** Nodes by key; 0 is none, as the root has no key. */
  private int[] table = new int[1 << 13];

  /** Of what both sums of it are parts. */
  private final StackTree whole;

  private final long[] total = new long[2];
  private boolean stale;
  private int changes;

  /** An empty one, for all the stacks of a file. */
  StackTree() {
    this(null, mostNodes());
  }

  /** As many as there is memory for, on which more than this tree lives. */
  private static int mostNodes() {
    long room = Runtime.getRuntime().maxMemory() * 2 / 5 / NODE_BYTES;
    return (int) Math.min(Integer.MAX_VALUE / 8, room);
  }

  /**
   * An empty one.
   *
   * @param whole the tree that has all stacks, if it is to have only some of them; else null
   */
  StackTree(StackTree whole) {
    this(whole, Integer.MAX_VALUE);
  }

  StackTree(StackTree whole, int mostNodes) {
    super(FIRST_CAPACITY);
    this.mostNodes = mostNodes;
    this.whole = whole == null ? this : whole;
  }

  /**
   * The same nodes, without their sums: for another thread, while this one goes on. What is never
   * written again is shared.
   */
  private StackTree(StackTree of, StackTree whole, int size) {
    super(1);
    mostNodes = size;
    this.whole = whole;
    this.size = size;
    capacity = of.capacity;
    key = of.key;
    firstChild = of.isWhole() ? of.firstChild : Arrays.copyOf(of.firstChild, size);
    sibling = of.sibling;
    own = of.ends(NOW);
    ownBefore = of.ownBefore == null ? null : of.ends(BEFORE);
    table = null;
    recent = null;
  }

  /** Its nodes as they are now, and what ends in them. */
  StackTree held() {
    return new StackTree(this, whole, size);
  }

  /** That child of a node, made if need be; -1 if there is no room for it. */
  int child(int parent, int function) {
    long wanted = key(parent, function);
    int mask = table.length - 1;
    int slot = slot(wanted, mask);
    for (int at; (at = table[slot]) != 0; slot = slot + 1 & mask) {
      if (key[at] == wanted) {
        recent[parent] = at;
        return at;
      }
    }
    if (size >= mostNodes) {
      return NONE;
    }
    if (size == capacity) {
      grow();
    }
    int node = add(wanted, firstChild[parent]);
    firstChild[parent] = node;
    recent[parent] = node;
    table[slot] = node;
    if (size > table.length / 2) {
      rehash();
    }
    return node;
  }

  /** The child that was asked for last; 0 if none was. */
  int recent(int parent) {
    return recent[parent];
  }

  private static int slot(long key, int mask) {
    long hash = key * SPREAD;
    return (int) (hash >>> 32) & mask;
  }

  private void grow() {
    // Half as much again: doubling would hold three times what is needed while it copies.
    allot(Math.max(size + 1, Math.min(mostNodes, capacity + (capacity >> 1))));
    recent = Arrays.copyOf(recent, capacity);
  }

  /** Has all arrays by node but that of guesses be so long. */
  private void allot(int length) {
    capacity = length;
    resize(length);
    own = Arrays.copyOf(own, capacity);
    sum = new long[capacity];
    if (ownBefore != null) {
      ownBefore = Arrays.copyOf(ownBefore, capacity);
      sumBefore = new long[capacity];
    }
    stale = true;
  }

  private void rehash() {
    table = new int[2 * table.length];
    int mask = table.length - 1;
    for (int node = 1; node < size; node++) {
      int slot = slot(key[node], mask);
      while (table[slot] != 0) {
        slot = slot + 1 & mask;
      }
      table[slot] = node;
    }
  }

  @Override
  public int changes() {
    return changes;
  }

  /** Nothing more will be added. */
  void trim() {
    table = null;
    recent = null;
    allot(size);
  }

  /** Whether nothing more will be added. */
  boolean isWhole() {
    return table == null;
  }

  void add(int node, long value, int column) {
    if (column == NOW) {
      own[node] += value;
    } else {
      ownBefore[node] += value;
    }
    total[column] += value;
    stale = true;
  }

  /** All that was ever added. */
  long added() {
    return total[NOW] + total[BEFORE];
  }

  /**
   * What ends in each node is this from now on.
   *
   * @param before null if nothing is compared
   */
  void replace(long[] now, long[] before) {
    own = Arrays.copyOf(now, capacity);
    if (before != null) {
      compare();
      ownBefore = Arrays.copyOf(before, capacity);
    }
    stale = true;
  }

  /** From now on there is something to compare with. */
  void compare() {
    ownBefore = new long[capacity];
    sumBefore = new long[capacity];
    stale = true;
  }

  @Override
  public void sumUp() {
    if (!stale) {
      return;
    }
    stale = false;
    changes++;
    sum(own, sum);
    if (ownBefore != null) {
      sum(ownBefore, sumBefore);
      normalize();
    }
  }

  private void sum(long[] of, long[] into) {
    System.arraycopy(of, 0, into, 0, size);
    for (int node = size - 1; node > ROOT; node--) {
      into[parent(node)] += into[node];
    }
  }

  /**
   * What brings sums of before to the same total as those of now: shares are compared, not the
   * lengths of two runs.
   */
  double scale() {
    long now = whole.total[NOW];
    long before = whole.total[BEFORE];
    return now > 0 && before > 0 ? (double) now / before : 1;
  }

  private void normalize() {
    double scale = scale();
    if (scale != 1) {
      for (int node = 0; node < size; node++) {
        sumBefore[node] = Math.round(sumBefore[node] * scale);
      }
    }
  }

  @Override
  public void retire() {
    super.retire();
    table = null;
    recent = null;
    own = null;
    ownBefore = null;
    sumBefore = null;
  }

  /** What ends in it and not below it. */
  long own(int node, int column) {
    return column == NOW ? own[node] : ownBefore[node];
  }

  /** The same of all nodes that there are; what is added later is not in it. */
  long[] ends(int column) {
    long[] of = column == NOW ? own : ownBefore;
    return isWhole() ? of : Arrays.copyOf(of, size);
  }

  @Override
  public HeldStacks held(int node, StackNames names) {
    sumUp();
    return HeldStacks.below(this, node, names);
  }

  @Override
  public long baseline(int node, int states) {
    return sumBefore == null ? 0 : sumBefore[node];
  }

  @Override
  public boolean hasBaseline() {
    return sumBefore != null;
  }
}
