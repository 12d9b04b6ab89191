package flametop.profile.tree;

/**
 * Where a node of a file's graph is, by what finds it in that of another file.
 *
 * @param number of the node
 * @param graph which of a file's graphs it is in
 * @param names from below the root down to it, as the file has them
 * @param outermost whether each stands for what is outermost in its stacks
 */
public record NodePath(long number, Of graph, byte[][] names, boolean[] outermost) {
  /** The graphs that a file has. */
  public enum Of {
    ALL,
    CALLERS,
    CALLEES
  }
}
