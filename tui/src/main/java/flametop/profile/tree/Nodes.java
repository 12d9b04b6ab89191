package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import org.jspecify.annotations.Nullable;

/** A call tree in columns by node, which only grows. */
public abstract class Nodes implements CallTree {
  protected static final int ROOT = 0;
  protected static final int NONE = -1;

  /** Parent and function of each node: {@code parent << 32 | function}. */
  protected LongColumn keys = new LongColumn();

  protected IntColumn firstChild = new IntColumn();
  protected IntColumn sibling = new IntColumn();

  /** Finds nodes by their keys; null where children are found otherwise. */
  protected @Nullable LongIndex index;

  /** A tree that has only its root. */
  protected Nodes(int function) {
    keys.add(key(NONE, function));
    link(NONE);
  }

  protected static long key(int parent, int function) {
    return (long) parent << 32 | function;
  }

  /** Adds the other columns of the node whose key was added last. */
  protected final int link(int next) {
    firstChild.add(NONE);
    sibling.add(next);
    return sibling.size - 1;
  }

  /** The child of a node with a function, made if there is none; needs the index. */
  protected final int make(int parent, int function) {
    if (index == null) {
      throw new IllegalStateException("this tree does not find nodes by their keys");
    }
    int node = index.row(key(parent, function));
    if (node == sibling.size) {
      link(firstChild.items[parent]);
      firstChild.items[parent] = node;
    }
    return node;
  }

  /** Keeps the paths of the nodes and nothing else. */
  public void retire() {
    index = null;
    firstChild = new IntColumn();
    sibling = new IntColumn();
  }

  @Override
  public final int nodes() {
    return keys.size;
  }

  @Override
  public final int parent(int node) {
    return (int) (keys.items[node] >> 32);
  }

  @Override
  public final int function(int node) {
    return (int) keys.items[node];
  }

  @Override
  public final int firstChild(int node) {
    return firstChild.items[node];
  }

  @Override
  public final int sibling(int node) {
    return sibling.items[node];
  }
}
