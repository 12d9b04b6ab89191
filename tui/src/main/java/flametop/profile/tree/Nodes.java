package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The nodes of a tree in columns, which only grow. */
public class Nodes implements Paths {
  protected static final int ROOT = 0;
  protected static final int NONE = -1;

  /** Parent and function of each node: {@code parent << 32 | function}. */
  protected LongColumn keys = new LongColumn();

  protected IntColumn firstChild = new IntColumn();
  protected IntColumn sibling = new IntColumn();

  /** Finds nodes by their keys; null where children are found otherwise. */
  protected @Nullable LongIndex index;

  /** The root alone. */
  protected Nodes(int function) {
    keys.add(key(NONE, function));
    link(NONE);
  }

  /** The nodes as they are now, for another thread: what is never written again is shared. */
  public final Nodes held() {
    Nodes held = new Nodes(function(ROOT));
    held.keys = keys.held();
    held.firstChild = index == null ? firstChild : firstChild.copy();
    held.sibling = sibling.held();
    return held;
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

  private LongIndex index() {
    if (index == null) {
      throw new IllegalStateException("this tree does not find nodes by their keys");
    }
    return index;
  }

  /** The child of a node with a function, -1 if there is none; needs the index. */
  protected final int find(int parent, int function) {
    return index().find(key(parent, function));
  }

  /** The child of a node with a function, made if there is none; needs the index. */
  protected final int make(int parent, int function) {
    int node = index().row(key(parent, function));
    if (node == sibling.size) {
      link(firstChild.items[parent]);
      firstChild.items[parent] = node;
    }
    return node;
  }

  /** The paths of the nodes as they are now. */
  public Paths paths() {
    return paths(Map.of());
  }

  /** The same where the stacks that left a node are in another one now. */
  protected final Paths paths(Map<Integer, Integer> moved) {
    return new Kept(keys.held(), moved);
  }

  /** Paths without their tree. */
  private record Kept(LongColumn keys, Map<Integer, Integer> moved) implements Paths {
    @Override
    public int nodes() {
      return keys.size;
    }

    @Override
    public int parent(int node) {
      return (int) (keys.items[node] >> 32);
    }

    @Override
    public int function(int node) {
      return (int) keys.items[node];
    }

    @Override
    public int follow(int node) {
      return moved.getOrDefault(node, node);
    }
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

  /** The first child of a node, in no order; -1 if the node has no child. */
  public final int firstChild(int node) {
    return firstChild.items[node];
  }

  /** The next child of the same parent; -1 after the last. */
  public final int sibling(int node) {
    return sibling.items[node];
  }
}
