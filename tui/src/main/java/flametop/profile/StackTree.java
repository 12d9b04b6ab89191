package flametop.profile;

import java.util.Arrays;

/**
 * The call tree of folded stacks, in arrays by node. Stacks are only ever added; what is below a
 * node is summed up when the tree is read, a pass over the array from its end.
 *
 * <p>It counts two sums for each node, of which the second is compared with the first: that of a
 * single file is only now.
 */
final class StackTree implements CallTree {
  /** What is looked at, and what it is compared with. */
  static final int NOW = 0;

  static final int BEFORE = 1;

  private static final int ROOT = 0;
  private static final int NONE = -1;
  private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

  private int size = 1;
  private int capacity = 1 << 12;

  /** Parent and function of each node: {@code parent << 32 | function}. */
  private long[] key = new long[capacity];

  private int[] firstChild = new int[capacity];
  private int[] sibling = new int[capacity];

  /** The child that was asked for last, a good guess for the next time; 0 is none. */
  private int[] recent = new int[capacity];

  private long[] own = new long[capacity];
  private long[] sum = new long[capacity];

  // Null as long as nothing is compared.
  private long[] ownBefore;
  private long[] sumBefore;

  /** Nodes by key; 0 is none, as the root has no key. */
  private int[] table = new int[1 << 13];

  private boolean stale;
  private int changes;

  StackTree() {
    key[ROOT] = (long) NONE << 32 | StackNames.root();
    firstChild[ROOT] = NONE;
    sibling[ROOT] = NONE;
  }

  /** That child of a node, made if need be. */
  int child(int parent, int function) {
    long wanted = (long) parent << 32 | function;
    int mask = table.length - 1;
    int slot = slot(wanted, mask);
    for (int at; (at = table[slot]) != 0; slot = slot + 1 & mask) {
      if (key[at] == wanted) {
        recent[parent] = at;
        return at;
      }
    }
    int node = size++;
    if (node == capacity) {
      grow();
    }
    key[node] = wanted;
    firstChild[node] = NONE;
    sibling[node] = firstChild[parent];
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
    capacity += capacity >> 1;
    key = Arrays.copyOf(key, capacity);
    firstChild = Arrays.copyOf(firstChild, capacity);
    sibling = Arrays.copyOf(sibling, capacity);
    recent = Arrays.copyOf(recent, capacity);
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

  /** A number that is another one whenever the sums are. */
  int changes() {
    return changes;
  }

  /** Nothing more will be added. */
  void trim() {
    table = null;
    recent = null;
    capacity = size;
    key = Arrays.copyOf(key, capacity);
    firstChild = Arrays.copyOf(firstChild, capacity);
    sibling = Arrays.copyOf(sibling, capacity);
    own = Arrays.copyOf(own, capacity);
    sum = new long[capacity];
    if (ownBefore != null) {
      ownBefore = Arrays.copyOf(ownBefore, capacity);
      sumBefore = new long[capacity];
    }
    stale = true;
  }

  void add(int node, long value, int column) {
    if (column == NOW) {
      own[node] += value;
    } else {
      ownBefore[node] += value;
    }
    stale = true;
  }

  /** From now on there is something to compare with. */
  void compare() {
    ownBefore = new long[capacity];
    sumBefore = new long[capacity];
    stale = true;
  }

  boolean isCompared() {
    return ownBefore != null;
  }

  /**
   * Brings the sums up to date.
   *
   * @param admitted by node, which of the root's children count; null for all
   */
  void sumUp(boolean[] admitted) {
    if (!stale) {
      return;
    }
    stale = false;
    changes++;
    sum(own, sum, admitted);
    if (ownBefore != null) {
      sum(ownBefore, sumBefore, admitted);
      normalize();
    }
  }

  /** The sums are to be made anew, since others of the root's children count. */
  void admitAnew() {
    stale = true;
  }

  private void sum(long[] of, long[] into, boolean[] admitted) {
    System.arraycopy(of, 0, into, 0, size);
    for (int node = size - 1; node > ROOT; node--) {
      int parent = parent(node);
      if (parent != ROOT || admitted == null || admitted[node]) {
        into[parent] += into[node];
      } else {
        into[node] = 0;
      }
    }
    if (admitted == null) {
      return;
    }
    for (int node = 1; node < size; node++) {
      int parent = parent(node);
      if (parent == ROOT ? !admitted[node] : into[parent] == 0) {
        into[node] = 0;
      }
    }
  }

  /** Before, so that both have the same total: shares are compared, not the lengths of two runs. */
  private void normalize() {
    if (sum[ROOT] > 0 && sumBefore[ROOT] > 0 && sum[ROOT] != sumBefore[ROOT]) {
      double scale = (double) sum[ROOT] / sumBefore[ROOT];
      for (int node = 0; node < size; node++) {
        sumBefore[node] = Math.round(sumBefore[node] * scale);
      }
    }
  }

  /** What ends in it and not below it. */
  long own(int node, int column) {
    return column == NOW ? own[node] : ownBefore[node];
  }

  @Override
  public int nodes() {
    return size;
  }

  @Override
  public int parent(int node) {
    return (int) (key[node] >> 32);
  }

  @Override
  public int function(int node) {
    return (int) key[node];
  }

  @Override
  public int firstChild(int node) {
    return firstChild[node];
  }

  @Override
  public int sibling(int node) {
    return sibling[node];
  }

  @Override
  public long weight(int node, int states) {
    return sum[node];
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
