package flametop.profile.tree;

import flametop.profile.answer.GraphQuery;
import flametop.profile.answer.Shape;
import flametop.profile.answer.Siblings;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A graph as it is shown: a tree at a time. Nodes have numbers that outlive their tree: one of a
 * tree that was shown before means what stands for that node now.
 *
 * @param <T> the trees
 */
public abstract class ShownGraph<T> {
  /** How long one picture may look for the trend of its selection, ns. */
  private static final long TREND_NANOS = 3_000_000;

  private record Before<T>(T tree, int epoch) {}

  private record Report(TopQuery query, long version, TopReport answer) {}

  private final IntSupplier epochs;
  private final int mostBefore;
  private final List<Before<T>> before = new ArrayList<>();
  private T shown;
  private int epoch;

  /** The last picture of the shown tree; null if there is none. */
  private @Nullable GraphPicture picture;

  /** The last report of functions of the shown tree; null if there is none. */
  private @Nullable Report top;

  /**
   * @param epochs a new one at each call: upper half of the numbers of the nodes of a tree
   * @param mostBefore how many trees that were shown before are kept for the numbers of their nodes
   * @param first the tree that is shown at first
   */
  public ShownGraph(IntSupplier epochs, int mostBefore, T first) {
    this.epochs = epochs;
    this.mostBefore = mostBefore;
    shown = first;
    epoch = epochs.getAsInt();
  }

  public abstract int nodes(T of);

  /** Takes another shape, beside what is shown. */
  public abstract void shape(Shape wanted);

  /** Whether it is not yet what it is to be. */
  public abstract boolean isBehind();

  /** Nobody looks at it any more. */
  public void close() {}

  /** What stands in the shown tree for a node of one that is or was shown; the root if nothing. */
  public abstract int find(T of, int node);

  /** A tree is shown from now on; the one before it is only kept. */
  public final void show(T with) {
    before.add(0, new Before<>(shown, epoch));
    if (before.size() > mostBefore) {
      before.remove(mostBefore);
    }
    shown = with;
    epoch = epochs.getAsInt();
  }

  /** The tree that is shown was made anew; what nodes it had have kept their numbers. */
  public final void renew(T with) {
    shown = with;
    picture = null;
    top = null;
  }

  /** What is shown. */
  public final T shown() {
    return shown;
  }

  /** Upper half of the numbers of its nodes. */
  public final int epoch() {
    return epoch;
  }

  /** Adds the trees that were shown before, of which numbers of nodes are still known. */
  public final void before(List<? super T> to) {
    for (Before<T> one : before) {
      to.add(one.tree);
    }
  }

  /** Whether the number is of a node of this graph. */
  public final boolean has(long number) {
    return treeOf(number) != null;
  }

  /** The tree with the node of this number; null if it is of another graph, or long gone. */
  public final @Nullable T treeOf(long number) {
    int of = (int) (number >>> 32);
    if (of == epoch) {
      return shown;
    }
    for (Before<T> one : before) {
      if (of == one.epoch) {
        return one.tree;
      }
    }
    return null;
  }

  /** The node with this number, or what stands for it now; the root if nothing does. */
  public final int resolve(long number) {
    int node = (int) number;
    T of = treeOf(number);
    return of == null || node < 0 || node >= nodes(of) ? 0 : find(of, node);
  }

  /**
   * What a query asks of it; made anew only as far as something has changed.
   *
   * @param changes another number after each change of the tree, of 48 bits
   */
  public final GraphPicture picture(
      GraphQuery query, long changes, GraphPicture.Reader reader, Matches matches) {
    int selected = resolve(query.selected());
    Siblings siblings = query.siblings();
    // The answer to a key does not wait for its trend, nor a new node of very many to be watched.
    boolean again = picture != null && picture.selected() == selected;
    picture =
        GraphPicture.of(
            picture,
            query,
            version(changes),
            reader,
            resolve(query.zoom()),
            selected,
            siblings == null ? 0 : resolve(siblings.first()),
            siblings == null ? 0 : resolve(siblings.last()),
            matches,
            again ? TREND_NANOS : 0);
    return picture;
  }

  /**
   * Its functions; made anew only if something has changed.
   *
   * @param noise of what is counted, if it is compared
   * @param changes as of {@link #picture}
   */
  public final TopReport top(TopQuery query, Noise noise, long changes, Top of) {
    long version = version(changes);
    if (top == null || top.version != version || !query.equals(top.query)) {
      top = new Report(query, version, of.report(query, noise));
    }
    return top.answer;
  }

  private long version(long changes) {
    return (long) epoch << 48 | changes;
  }
}
