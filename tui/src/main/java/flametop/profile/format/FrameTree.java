package flametop.profile.format;

import flametop.array.IntColumn;
import flametop.array.LongColumn;
import flametop.array.LongIndex;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * The stacks of a profile whose frames get their names later, or whose values come in pieces: a
 * tree of frames with values, by columns. A frame is a number of the profile's own.
 */
final class FrameTree {
  static final int ROOT = 0;

  /** By node: its parent and its frame. */
  private final LongColumn keys = new LongColumn();

  private final LongIndex index;
  private final IntColumn depths = new IntColumn();

  /** By node: the child that was asked for last, a good guess for the next stack; 0: none. */
  private final IntColumn recent = new IntColumn();

  private final List<LongColumn> values = new ArrayList<>();
  private final int mostNodes;

  // In the order in which they were added, while that order is kept: node, measure, value.
  private final IntColumn addedNodes = new IntColumn();
  private final IntColumn addedMeasures = new IntColumn();
  private final LongColumn added = new LongColumn();
  private final int mostAdded;
  private boolean ordered;

  /**
   * @param ordered whether values are kept in the order in which they are added, and not as sums
   */
  FrameTree(boolean ordered) {
    this(
        ordered,
        (int) Math.min(1 << 26, Runtime.getRuntime().maxMemory() / 5 / 64),
        (int) Math.min(1 << 28, Runtime.getRuntime().maxMemory() / 10 / 32));
  }

  /**
   * @param mostAdded values that there is room for in their order; with more all become sums
   */
  FrameTree(boolean ordered, int mostNodes, int mostAdded) {
    this.ordered = ordered;
    this.mostNodes = mostNodes;
    this.mostAdded = mostAdded;
    // No frame has this number, so that no child is the root.
    keys.add(key(ROOT, Integer.MIN_VALUE));
    index = new LongIndex(keys);
    depths.add(0);
    recent.add(0);
  }

  private static long key(int parent, int frame) {
    return (long) parent << 32 | frame & 0xFFFF_FFFFL;
  }

  /** The child of a node with a frame, made if need be; -1 if there is no room. */
  int child(int parent, int frame) {
    if (parent < 0) {
      return parent;
    }
    long key = key(parent, frame);
    int guess = recent.items[parent];
    if (keys.items[guess] == key) {
      return guess;
    }
    int node = keys.size >= mostNodes ? index.find(key) : index.row(key);
    if (node == depths.size) {
      depths.add(depths.items[parent] + 1);
      recent.add(0);
    }
    if (node > 0) {
      recent.items[parent] = node;
    }
    return node;
  }

  int parent(int node) {
    return (int) (keys.items[node] >>> 32);
  }

  int frame(int node) {
    return (int) keys.items[node];
  }

  int depth(int node) {
    return depths.items[node];
  }

  /** Whether values are still kept in the order in which they were added. */
  boolean isOrdered() {
    return ordered;
  }

  /** The frames from the root to a node, whose number is the depth of the node. */
  int[] path(int node, int[] into) {
    int[] path = depth(node) <= into.length ? into : new int[2 * depth(node)];
    for (int at = node; at != ROOT; at = parent(at)) {
      path[depth(at) - 1] = frame(at);
    }
    return path;
  }

  /** Adds to the value of a node; returns false if the sum would be too large. */
  boolean add(int node, int measure, long value) {
    if (ordered && added.size < mostAdded) {
      addedNodes.add(node);
      addedMeasures.add(measure);
      added.add(value);
      return value >= 0;
    }
    if (ordered) {
      ordered = false;
      for (int i = 0; i < added.size; i++) {
        boolean unused = sum(addedNodes.items[i], addedMeasures.items[i], added.items[i]);
      }
      addedNodes.clear();
      addedNodes.trim();
      addedMeasures.clear();
      addedMeasures.trim();
      added.clear();
      added.trim();
    }
    return sum(node, measure, value);
  }

  private boolean sum(int node, int measure, long value) {
    while (values.size() <= measure) {
      values.add(new LongColumn());
    }
    LongColumn of = values.get(measure);
    long sum = of.get(node) + value;
    if (value < 0 || sum < 0) {
      return false;
    }
    of.set(node, sum);
    return true;
  }

  /** Takes a value of a node. */
  @FunctionalInterface
  interface Values<E extends Exception> {
    void value(int node, int measure, long value) throws E;
  }

  /** Goes through all values above 0: in their order if that is kept, else a sum for each node. */
  <E extends Exception> void each(Values<E> to) throws E {
    for (int row = 0; row < added.size; row++) {
      if (rowValue(row) > 0) {
        to.value(rowNode(row), rowMeasure(row), rowValue(row));
      }
    }
    for (int node = 0; node < keys.size; node++) {
      for (int measure = 0; measure < values.size(); measure++) {
        if (values.get(measure).get(node) > 0) {
          to.value(node, measure, values.get(measure).get(node));
        }
      }
    }
  }

  /** Gives all values a row: sums too. Nothing is added from now on. */
  int rows() {
    if (added.size == 0) {
      for (int node = 0; node < keys.size; node++) {
        for (int measure = 0; measure < values.size(); measure++) {
          if (values.get(measure).get(node) > 0) {
            addedNodes.add(node);
            addedMeasures.add(measure);
            added.add(values.get(measure).get(node));
          }
        }
      }
      values.clear();
    }
    return added.size;
  }

  int rowNode(int row) {
    return addedNodes.items[row];
  }

  int rowMeasure(int row) {
    return addedMeasures.items[row];
  }

  long rowValue(int row) {
    return added.items[row];
  }

  /**
   * Hands all stacks on that have a value.
   *
   * @param known frames from 0 to below this are described
   * @param made makes the sink's number of a frame; is asked once for each, unless the frame is not
   *     described or there is no room
   * @param left so many first frames of each stack are left out
   * @param measures the number of the sink for each measure
   */
  void write(int known, IntUnaryOperator made, int left, int[] measures, StackSink to) {
    IntUnaryOperator frames = once(known, made);
    if (ordered) {
      writeInOrder(frames, left, measures, to);
      return;
    }
    if (to.wantsOrder()) {
      to.note("there is no memory for the order of so many samples: stacks are sums");
    }
    int[] firstChild = new int[keys.size];
    int[] sibling = new int[keys.size];
    for (int node = keys.size - 1; node > ROOT; node--) {
      sibling[node] = firstChild[parent(node)];
      firstChild[parent(node)] = node;
    }
    int[] path = new int[64];
    int shared = 0;
    int node = ROOT;
    while (true) {
      int depth = Math.max(0, depth(node) - left);
      for (int measure = 0; measure < values.size(); measure++) {
        long value = values.get(measure).get(node);
        if (value > 0) {
          to.stack(measures[measure], path, shared, depth, value);
          shared = depth;
        }
      }
      int next = firstChild[node];
      while (next == 0 && node != ROOT) {
        next = sibling[node];
        node = parent(node);
      }
      if (next == 0) {
        return;
      }
      node = next;
      int at = depth(node) - left - 1;
      shared = Math.max(0, Math.min(shared, at));
      if (at == path.length) {
        path = Arrays.copyOf(path, 2 * at);
      }
      if (at >= 0) {
        path[at] = frames.applyAsInt(frame(node));
      }
    }
  }

  private static IntUnaryOperator once(int known, IntUnaryOperator made) {
    // By frame, and by complement of those below 0: number of the sink plus 1.
    int[] described = new int[known];
    IntColumn below = new IntColumn();
    return frame -> {
      int before = frame < 0 ? below.get(~frame) : frame < known ? described[frame] : 0;
      int number = before > 0 ? before - 1 : made.applyAsInt(frame);
      if (before == 0 && frame < 0) {
        below.set(~frame, number + 1);
      } else if (before == 0 && frame < known) {
        described[frame] = number + 1;
      }
      return number;
    };
  }

  private void writeInOrder(IntUnaryOperator frames, int left, int[] measures, StackSink to) {
    int[] path = new int[64];
    for (int row = 0; row < added.size; row++) {
      if (rowValue(row) > 0) {
        int node = rowNode(row);
        path = path(node, path);
        int depth = Math.max(0, depth(node) - left);
        for (int i = 0; i < depth; i++) {
          path[i] = frames.applyAsInt(path[i + left]);
        }
        to.stack(measures[rowMeasure(row)], path, 0, depth, rowValue(row));
      }
    }
  }
}
