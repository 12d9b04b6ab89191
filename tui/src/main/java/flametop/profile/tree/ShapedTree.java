package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import java.util.regex.Pattern;

/**
 * A call tree of one shape, with its readers, each of which keeps its findings.
 *
 * @param epoch upper half of the numbers of the nodes, which no other shape has
 * @param top the tree by function
 */
public record ShapedTree(
    CallTree nodes,
    Shape shape,
    int epoch,
    TreeReader reader,
    Top top,
    Finds finds,
    NodeFinder finder) {
  public ShapedTree(CallTree nodes, Functions functions, Shape shape, int epoch, Finds finds) {
    this(
        nodes,
        shape,
        epoch,
        new TreeReader(nodes, functions, epoch),
        new Top(nodes, functions),
        finds,
        new NodeFinder(nodes, functions, shape));
  }

  /** The nodes of the whole tree that match. */
  public Snapshot.Search search(Pattern pattern, StateSet states) {
    return finds.search(pattern, states, reader);
  }

  /** The node that stands for a node of another tree; the root if none does. */
  public int find(Paths other, Shape itsShape, int node) {
    return finder.find(other, itsShape, node);
  }

  /** Number of the last node of a path of functions, the outermost first, that there is. */
  public long descend(IntColumn functions) {
    return reader.number(finder.descend(0, functions, 0));
  }

  /** Numbers of functions that no node has may mean others from now on. */
  public void forget() {
    finds.forget();
    finder.forget();
    reader.forget();
  }
}
