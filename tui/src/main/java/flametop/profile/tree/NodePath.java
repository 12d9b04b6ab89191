package flametop.profile.tree;

/**
 * The path of a node of a file's graph, by which the graph of another file finds its own node.
 *
 * @param number of the node
 * @param graph which of a file's graphs the node is in
 * @param names from below the root down to the node, as the file has them
 */
public record NodePath(long number, Of graph, byte[][] names) {
  /** The graphs that a file has. */
  public enum Of {
    ALL,
    CALLERS,
    CALLEES
  }
}
