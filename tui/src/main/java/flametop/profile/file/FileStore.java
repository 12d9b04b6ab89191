package flametop.profile.file;

import flametop.array.IntColumn;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.tree.NodePath;
import flametop.profile.tree.Paths;
import flametop.profile.tree.ShapedTree;
import flametop.profile.tree.Store;

/** The stacks of a file, in the tree of all of them, and the names of their frames. */
final class FileStore implements Store<FileFold> {
  /** Memory of a node of a tree, at most, B. */
  private static final int NODE_BYTES = 64;

  private final StackTree whole = new StackTree();
  private final StackNames names = new StackNames();
  private final int files;
  private int epoch;

  /** The store of a file by its number among {@code files}, from 1. */
  FileStore(int number, int files) {
    epoch = number;
    this.files = files;
  }

  /** The tree of all stacks. */
  StackTree whole() {
    return whole;
  }

  StackNames names() {
    return names;
  }

  /** A fold that is made as far as one slice goes: the fold of a small file is complete at once. */
  @Override
  public FileFold fold(Shape shape) {
    // No two files have the same epoch.
    epoch += files;
    return new FileFold(whole, names, shape, epoch, mostNodes());
  }

  private static int mostNodes() {
    Runtime runtime = Runtime.getRuntime();
    long free = runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
    return (int) Math.min(Integer.MAX_VALUE / 2, free / 2 / NODE_BYTES);
  }

  /** The path of a node, by which another file finds the node. */
  NodePath path(Paths tree, long number, NodePath.Of graph) {
    int[] nodes = tree.pathTo((int) number);
    byte[][] path = new byte[nodes.length - 1][];
    for (int i = 0; i < path.length; i++) {
      path[i] = names.text(tree.function(nodes[i + 1]));
    }
    return new NodePath(number, graph, path);
  }

  /** Number of the node with a path of another file, or with as much of the path as there is. */
  long find(NodePath path, ShapedTree in) {
    IntColumn functions = new IntColumn();
    boolean comm = whole.isComm() && in.shape().group() != RootOrder.NONE;
    for (int i = 0; i < path.names().length; i++) {
      int name = names.find(path.names()[i]);
      functions.add(name < 0 ? name : StackNames.function(name, i == 0 && comm));
    }
    return in.descend(functions);
  }
}
