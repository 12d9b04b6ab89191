package flametop.profile.tree;

/**
 * The paths of the nodes of a tree, each from the root to the node. Node 0 is the root, and the
 * number of a parent is below the numbers of its children.
 */
public interface Paths {
  int nodes();

  /** The parent of a node; -1 for the root. */
  int parent(int node);

  /** The function of a node, by its number in {@link Functions}. */
  int function(int node);

  /** The node itself, or the node where its stacks are now if all of them left it. */
  default int follow(int node) {
    return node;
  }

  /** The nodes from the root to a node. */
  default int[] pathTo(int node) {
    int[] path = new int[depth(node) + 1];
    for (int n = node, i = path.length - 1; i >= 0; i--, n = parent(n)) {
      path[i] = n;
    }
    return path;
  }

  /** How many nodes stand above a node. */
  default int depth(int node) {
    int depth = 0;
    for (int n = parent(node); n >= 0; n = parent(n)) {
      depth++;
    }
    return depth;
  }
}
