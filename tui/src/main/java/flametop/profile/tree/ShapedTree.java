package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.GraphSlice;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Snapshot;
import flametop.profile.answer.StateSet;
import java.util.regex.Pattern;

/** A call tree of one shape, with its readers, each of which keeps its findings. */
public final class ShapedTree {
  private final CallTree tree;
  private final Shape shape;
  private final int epoch;
  private final TreeReader reader;
  private final Finds finds;
  private final Top top;
  private final NodeFinder finder;

  /**
   * @param epoch upper half of the numbers of the nodes, which no other shape has
   * @param finds of the tree
   */
  public ShapedTree(CallTree tree, Functions functions, Shape shape, int epoch, Finds finds) {
    this.tree = tree;
    this.shape = shape;
    this.epoch = epoch;
    this.finds = finds;
    reader = new TreeReader(tree, functions, epoch);
    top = new Top(tree, functions);
    finder = new NodeFinder(tree, functions, shape);
  }

  public CallTree nodes() {
    return tree;
  }

  public Shape shape() {
    return shape;
  }

  /** Upper half of the numbers of the nodes. */
  int epoch() {
    return epoch;
  }

  public TreeReader reader() {
    return reader;
  }

  /** The tree by function. */
  public Top top() {
    return top;
  }

  /** The nodes of the whole tree that match. */
  public Snapshot.Search search(Pattern pattern, StateSet states) {
    return finds.search(pattern, states, reader);
  }

  /** The visible nodes, as {@link TreeReader#slice} lists them. */
  GraphSlice slice(GraphQuery query, int zoom, int from, int to) {
    return reader.slice(query, zoom, from, to);
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
