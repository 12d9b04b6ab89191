package flametop.profile.tree;

import flametop.array.IntColumn;
import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.FoldedStack.Owner;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterators;
import java.util.Spliterators.AbstractSpliterator;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The stacks of a tree, or those below a node, as they were at one moment, in order of their names;
 * stacks with one path are one. Any thread may go through them, as often as the thread likes. There
 * may be millions of stacks, so nothing lists them: an iterator keeps its path in the tree and the
 * nodes beside that path.
 */
public final class HeldStacks implements Iterable<FoldedStack> {
  private static final int ROOT = 0;

  /** The name of stacks without a frame, as where only the owner was left. */
  private static final String NO_STACK = "[no stack]";

  /**
   * The amounts of the stacks that end in each node of a tree, which nobody changes any more.
   *
   * @param names of the functions of the nodes
   * @param now amount by node
   * @param before amount by node that is compared with; null: nothing is compared
   * @param total of the amounts of the held stacks
   * @param decimals digits behind the point that amounts have: they are so many times ten as large
   * @param shape what was done to the stacks
   * @param owned whether the outermost frames may be {@linkplain Functions#owner owners}
   */
  public record Ends(
      Nodes tree,
      Functions names,
      long[] now,
      long @Nullable [] before,
      long total,
      int decimals,
      Shape shape,
      boolean owned) {}

  private final Ends ends;

  /** The nodes above all stacks; none if innermost frames are first. */
  private final int[] above;

  /** The nodes of the first frames; of reversed stacks also the node in which each ends. */
  private final long[] first;

  private final boolean reversed;
  private final boolean grouped;

  /** Whether stacks without a frame, which end in the root, are among them. */
  private final boolean frameless;

  private final List<String> zoom;

  private HeldStacks(
      Ends ends,
      int[] above,
      boolean reversed,
      long[] first,
      boolean grouped,
      boolean frameless,
      List<String> zoom) {
    this.ends = ends;
    this.above = above;
    this.reversed = reversed;
    this.first = first;
    this.grouped = grouped;
    this.frameless = frameless;
    this.zoom = zoom;
  }

  /**
   * The stacks that end in a node or below it.
   *
   * @param zoom names of the frames down to the node
   */
  public static HeldStacks below(Ends ends, int node, List<String> zoom) {
    int[] path = ends.tree.pathTo(node);
    int[] above = Arrays.copyOfRange(path, 1, Math.max(1, path.length - 1));
    return new HeldStacks(ends, above, false, new long[] {node}, false, node == ROOT, zoom);
  }

  /**
   * The stacks that end in given nodes, innermost frames first.
   *
   * @param grouped whether the outermost frame stays the first
   * @param zoom names of the frames that all of them begin with
   */
  public static HeldStacks reversed(Ends ends, int[] nodes, boolean grouped, List<String> zoom) {
    long[] first = new long[nodes.length];
    int count = 0;
    boolean frameless = false;
    for (int end : nodes) {
      if (end == ROOT) {
        frameless = true;
        continue;
      }
      int node = end;
      while (grouped && ends.tree.parent(node) > ROOT) {
        node = ends.tree.parent(node);
      }
      first[count++] = (long) end << 32 | node;
    }
    return new HeldStacks(
        ends, new int[0], true, Arrays.copyOf(first, count), grouped, frameless, zoom);
  }

  /** The shape of the stacks. */
  public Shape shape() {
    return ends.shape;
  }

  /** Names of the frames that all stacks begin with; empty if all stacks are held. */
  public List<String> zoom() {
    return zoom;
  }

  /** Whether the stacks are compared: {@link FoldedStack#before} means something. */
  public boolean compared() {
    return ends.before != null;
  }

  /** The total of all amounts. */
  public long total() {
    return ends.total;
  }

  /** Digits behind the point: the amounts are held times ten to this power. */
  public int decimals() {
    return ends.decimals;
  }

  @Override
  public Iterator<FoldedStack> iterator() {
    return Spliterators.iterator(new Walk());
  }

  /**
   * Walks in depth. A level is a range of items in the order of their functions: nodes beside each
   * other, or reversed stacks, each with the node of its current frame. The nodes of the next level
   * stand behind the range; reversed stacks stay in their range and are ordered anew.
   */
  private final class Walk extends AbstractSpliterator<FoldedStack> {
    private long[] items = Arrays.copyOf(first, Math.max(1, first.length));
    private final IntColumn at = new IntColumn();
    private final IntColumn to = new IntColumn();
    private String[] path = new String[64];
    private NodeKind[] kinds = new NodeKind[64];
    private String[] modules = new String[64];
    private final int lead;

    /** By function: its place in the order of names; only while items are sorted. */
    private final IntColumn rank = new IntColumn();

    private boolean begun;

    Walk() {
      super(Long.MAX_VALUE, ORDERED);
      lead = above.length;
      for (int i = 0; i < lead; i++) {
        frame(i, ends.tree.function(above[i]));
      }
      if (!reversed && first[0] == ROOT) {
        push(0, children(0, 1, 0));
      } else {
        push(0, first.length);
      }
    }

    private @Nullable FoldedStack withoutFrame() {
      long nows = frameless ? ends.now[ROOT] : 0;
      long befores = frameless && ends.before != null ? ends.before[ROOT] : 0;
      return nows == 0 && befores == 0
          ? null
          : new FoldedStack(
              new String[] {NO_STACK},
              new NodeKind[] {NodeKind.REASON},
              new String[] {""},
              befores,
              nows,
              List.of());
    }

    @Override
    public boolean tryAdvance(Consumer<? super FoldedStack> action) {
      FoldedStack found = find();
      if (found != null) {
        action.accept(found);
      }
      return found != null;
    }

    private @Nullable FoldedStack find() {
      if (!begun) {
        begun = true;
        FoldedStack bare = withoutFrame();
        if (bare != null) {
          return bare;
        }
      }
      while (at.size > 0) {
        int level = at.size - 1;
        int from = at.items[level];
        int end = to.items[level];
        if (from == end) {
          at.size--;
          to.size--;
          continue;
        }
        int function = function(from);
        int run = from + 1;
        while (run < end && ends.names.compare(function, function(run)) == 0) {
          run++;
        }
        at.items[level] = run;
        frame(lead + level, function);
        FoldedStack stack = stack(from, run, lead + level + 1);
        if (reversed) {
          push(from, ahead(from, run, level));
        } else {
          push(end, children(from, run, end));
        }
        if (stack != null) {
          return stack;
        }
      }
      return null;
    }

    private int function(int item) {
      return ends.tree.function((int) items[item]);
    }

    private void frame(int depth, int function) {
      if (depth == path.length) {
        path = Arrays.copyOf(path, 2 * depth);
        kinds = Arrays.copyOf(kinds, 2 * depth);
        modules = Arrays.copyOf(modules, 2 * depth);
      }
      path[depth] = ends.names.name(function);
      kinds[depth] = ends.names.kind(function);
      modules[depth] = ends.names.module(function);
    }

    /** The stacks that end at some items of the last level, as one; null if none ends there. */
    private @Nullable FoldedStack stack(int from, int run, int depth) {
      long nows = 0;
      long befores = 0;
      List<FoldedStack.Share> shares = List.of();
      for (int i = from; i < run; i++) {
        if (!reversed || after(items[i], at.size - 1) == ROOT) {
          int end = reversed ? (int) (items[i] >>> 32) : (int) items[i];
          nows += ends.now[end];
          befores += ends.before == null ? 0 : ends.before[end];
          if (ends.owned && ends.now[end] > 0) {
            shares = shares.isEmpty() ? new ArrayList<>() : shares;
            shares.add(owner(end).share(ends.now[end]));
          }
        }
      }
      return nows == 0 && befores == 0
          ? null
          : new FoldedStack(
              Arrays.copyOf(path, depth),
              Arrays.copyOf(kinds, depth),
              Arrays.copyOf(modules, depth),
              befores,
              nows,
              shares);
    }

    /** The owner that the stack which ends in a node begins with. */
    private Owner owner(int end) {
      int node = end;
      while (ends.tree.parent(node) > ROOT) {
        node = ends.tree.parent(node);
      }
      return ends.names.owner(ends.tree.function(node));
    }

    /** Puts the children of nodes from {@code room} on; returns where they end. */
    private int children(int from, int run, int room) {
      int end = room;
      for (int i = from; i < run; i++) {
        int child = ends.tree.firstChild((int) items[i]);
        for (; child >= 0; child = ends.tree.sibling(child)) {
          if (end == items.length) {
            items = Arrays.copyOf(items, 2 * end);
          }
          items[end++] = child;
        }
      }
      return end;
    }

    /** Moves the stacks on that do not end here; returns where they end. */
    private int ahead(int from, int run, int level) {
      int end = from;
      for (int i = from; i < run; i++) {
        int node = after(items[i], level);
        if (node != ROOT) {
          items[end++] = items[i] >>> 32 << 32 | node;
        }
      }
      return end;
    }

    /** The node of the next frame of a stack; the root if the stack ends. */
    private int after(long item, int level) {
      int end = (int) (item >>> 32);
      int node = (int) item;
      if (!grouped) {
        return ends.tree.parent(node);
      }
      int after = level == 0 ? end : ends.tree.parent(node);
      // The outermost frame was the first.
      return ends.tree.parent(after) == ROOT ? ROOT : after;
    }

    private void push(int from, int end) {
      if (from < end) {
        sort(from, end);
        at.add(from);
        to.add(end);
      }
    }

    private void sort(int from, int end) {
      int count = end - from;
      if (count < 2) {
        return;
      }
      IntColumn functions = new IntColumn();
      for (int i = from; i < end; i++) {
        if (rank.get(function(i)) == 0) {
          rank.set(function(i), 1);
          functions.add(function(i));
        }
      }
      // Those of one name stay in the order of their numbers.
      Arrays.sort(functions.items, 0, functions.size);
      functions.sort(0, ends.names::compare);
      for (int i = 0; i < functions.size; i++) {
        rank.set(functions.items[i], i + 1);
      }
      long[] keys = new long[count];
      for (int i = 0; i < count; i++) {
        keys[i] = (long) rank.get(function(from + i)) << 32 | i;
      }
      for (int i = 0; i < functions.size; i++) {
        rank.set(functions.items[i], 0);
      }
      Arrays.sort(keys);
      long[] sorted = new long[count];
      for (int i = 0; i < count; i++) {
        sorted[i] = items[from + (int) keys[i]];
      }
      System.arraycopy(sorted, 0, items, from, count);
    }
  }
}
