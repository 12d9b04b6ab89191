package flametop.profile.file;

import java.util.Arrays;

/** A folded tree in arrays by node. */
abstract class ArrayTree implements FoldedTree {
  static final int ROOT = 0;
  static final int NONE = -1;

  int size = 1;

  /** Parent and function of each node: {@code parent << 32 | function}. */
  long[] key;

  int[] firstChild;
  int[] sibling;

  /** What is in each node and below it. */
  long[] sum;

  /** One that has only its root. */
  ArrayTree(int capacity) {
    key = new long[capacity];
    firstChild = new int[capacity];
    sibling = new int[capacity];
    sum = new long[capacity];
    key[ROOT] = key(NONE, StackNames.root());
    firstChild[ROOT] = NONE;
    sibling[ROOT] = NONE;
  }

  /** Takes the nodes of another, without their sums. */
  final void copy(ArrayTree other) {
    size = other.size;
    key = other.key.clone();
    firstChild = other.firstChild.clone();
    sibling = other.sibling.clone();
    sum = new long[key.length];
  }

  static long key(int parent, int function) {
    return (long) parent << 32 | function;
  }

  /**
   * Another node, for which there is room.
   *
   * @param next its sibling
   */
  final int add(long of, int next) {
    int node = size++;
    key[node] = of;
    firstChild[node] = NONE;
    sibling[node] = next;
    return node;
  }

  /** Has the arrays of what is not summed up be so long. */
  final void resize(int length) {
    key = Arrays.copyOf(key, length);
    firstChild = Arrays.copyOf(firstChild, length);
    sibling = Arrays.copyOf(sibling, length);
  }

  @Override
  public void retire() {
    firstChild = null;
    sibling = null;
    sum = null;
  }

  @Override
  public final int nodes() {
    return size;
  }

  @Override
  public final int parent(int node) {
    return (int) (key[node] >> 32);
  }

  @Override
  public final int function(int node) {
    return (int) key[node];
  }

  @Override
  public final int firstChild(int node) {
    return firstChild[node];
  }

  @Override
  public final int sibling(int node) {
    return sibling[node];
  }

  @Override
  public final long weight(int node, int states) {
    return sum[node];
  }

  @Override
  public final boolean hasStates() {
    return false;
  }
}
