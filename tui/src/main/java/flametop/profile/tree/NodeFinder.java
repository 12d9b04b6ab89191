package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;

/**
 * Finds the node of a tree that stands for a node of another tree: the node with the path that the
 * shape of the tree makes of the other path, or with as much of that path as there is.
 *
 * <p>Where the other tree groups stacks by something else, the best of all groups is the answer.
 * Where one of the two trees has innermost frames first and the other has them last, the heaviest
 * node of the same function is.
 */
public final class NodeFinder {
  private static final int ALL = StateSet.ALL.bits();
  private static final int ROOT = 0;
  private static final int NONE = -1;

  private final CallTree tree;
  private final Functions functions;
  private final Shape shape;
  private final Shaper shaper;
  private final IntColumn path = new IntColumn();
  private final IntColumn origins = new IntColumn();

  /**
   * @param shape of the tree
   */
  public NodeFinder(CallTree tree, Functions functions, Shape shape) {
    this.tree = tree;
    this.functions = functions;
    this.shape = shape;
    shaper = new Shaper(shape, functions);
  }

  /** Numbers of functions may mean others from now on. */
  public void forget() {
    shaper.forget();
  }

  /**
   * The node that stands for a node of another tree; the root if none does.
   *
   * @param itsShape of the other tree
   */
  public int find(Paths other, Shape itsShape, int node) {
    path(other, node);
    int owners = 0;
    while (owners < path.size && isOwner(path.items[owners])) {
      owners++;
    }
    if (shape.reversed() != itsShape.reversed() && owners < path.size) {
      return heaviest(path.items[path.size - 1], owners);
    }
    if (shaper.keepsOrder()) {
      shaper.shape(path, owners, origins);
    }
    return shape.group() == itsShape.group() ? descend(ROOT, path, 0) : best(owners);
  }

  /** Reads the functions from below the root to a node. */
  private void path(Paths of, int node) {
    path.clear();
    for (int n : of.pathTo(node)) {
      if (n != ROOT) {
        path.add(of.function(n));
      }
    }
  }

  /** The node that has most of the path without its owners, below any owner. */
  private int best(int owners) {
    int found = ROOT;
    int most = 0;
    IntColumn due = new IntColumn();
    due.add(ROOT);
    while (due.size > 0) {
      int top = due.pop();
      for (int child = tree.firstChild(top); child != NONE; child = tree.sibling(child)) {
        if (isOwner(tree.function(child))) {
          due.add(child);
        }
      }
      int at = descend(top, path, owners);
      int frames = tree.depth(at) - tree.depth(top);
      if (frames > most || frames == most && frames > 0 && isHeavier(at, found)) {
        found = at;
        most = frames;
      }
    }
    return found;
  }

  /**
   * A node of a function: below the owners of the path if the function is there, else anywhere; as
   * much of the owners as there is if the function is nowhere. Of several nodes the heaviest; in a
   * tree of callers the node right below the owners.
   */
  private int heaviest(int function, int owners) {
    path.size = owners;
    int top = descend(ROOT, path, 0);
    openOwners();
    int best = NONE;
    int most = 0;
    // Whether each node is below the top: stacks may be deep, and all of one function.
    boolean[] below = new boolean[tree.nodes()];
    below[top] = true;
    for (int node = ROOT; node < below.length; node++) {
      int parent = tree.parent(node);
      below[node] |= parent != NONE && below[parent];
      if (node != ROOT && tree.function(node) == function && !tree.isEmptied(node)) {
        boolean weighs = tree.weight(node, ALL) > 0;
        boolean first = shape.reversed() && (parent == ROOT || isOwner(tree.function(parent)));
        int rank = (weighs ? 4 : 0) + (below[node] ? 2 : 0) + (first ? 1 : 0);
        if (best == NONE || rank > most || rank == most && isHeavier(node, best)) {
          best = node;
          most = rank;
        }
      }
    }
    return best == NONE ? top : best;
  }

  /** Opens the owners, so that the first frames below them are there. */
  private void openOwners() {
    for (int child = tree.firstChild(ROOT); child != NONE; child = tree.sibling(child)) {
      if (isOwner(tree.function(child))) {
        tree.open(child, Double.POSITIVE_INFINITY, 1);
      }
    }
  }

  private boolean isHeavier(int a, int b) {
    return tree.weight(a, ALL) > tree.weight(b, ALL);
  }

  private boolean isOwner(int function) {
    return functions.kind(function).isOwner();
  }

  /**
   * Goes down from a node along a path, as far as there are nodes.
   *
   * @param of functions, the outermost first
   * @param index of the first function that counts
   */
  public int descend(int from, IntColumn of, int index) {
    int at = from;
    for (int i = index; i < of.size; i++) {
      int child = tree.child(at, of.items[i]);
      if (child == NONE) {
        break;
      }
      at = child;
    }
    return at;
  }
}
