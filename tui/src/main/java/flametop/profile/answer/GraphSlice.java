package flametop.profile.answer;

import org.jspecify.annotations.Nullable;

/**
 * The visible part of the graph at one moment: immutable, in pre-order, siblings in the order that
 * the query wants. Index 0 is the root; the ancestors of the zoomed node come first, then the
 * zoomed node at index {@code zoomIndex} and what is below it.
 *
 * @param node opaque number of each node
 * @param parent index of its parent; -1 for the root
 * @param name clean name, whole
 * @param kind what it stands for
 * @param weight amount in the states asked for, its descendants included
 * @param hiddenWeight {@link #extent} of those children of it that are too narrow to list; none of
 *     the zoomed node
 * @param hiddenCount how many those are
 * @param bundled 0 for a node. Else it stands for so many neighbouring children of the zoomed node
 *     that are too narrow to be listed: {@code node} is the first of them, the weight is of all
 * @param last the last node that it stands for: itself, or of a bundle
 * @param opened only some neighbouring children of the zoomed node are listed ({@link
 *     GraphQuery#siblings}), and they fill its width
 * @param guessed whether a sample has found the frame without unwind information
 * @param matched whether its own name matches the search
 * @param zoomIndex index of the zoomed node
 * @param queued the part of each weight in which tasks waited for a CPU; none of a bundle. Null if
 *     that part is not told apart: only one state was asked for, or the graph has a baseline
 * @param state {@link flametop.sampler.State#ordinal()} of the state, of those asked for, that most
 *     of each node's time was spent in, besides {@code queued}; null if that was not asked for
 * @param baseline what each node had in what the graph is compared with, scaled to the same length
 *     of time, or to the same total; null if it is compared with nothing. Nodes that only have this
 *     are listed too, with weight 0
 */
public record GraphSlice(
    long[] node,
    int[] parent,
    String[] name,
    NodeKind[] kind,
    long[] weight,
    long[] hiddenWeight,
    int[] hiddenCount,
    int[] bundled,
    long[] last,
    boolean opened,
    boolean[] guessed,
    boolean[] matched,
    int zoomIndex,
    long @Nullable [] queued,
    byte @Nullable [] state,
    long @Nullable [] baseline) {
  /** A graph without a node. */
  static final GraphSlice EMPTY =
      new GraphSlice(
          new long[0],
          new int[0],
          new String[0],
          new NodeKind[0],
          new long[0],
          new long[0],
          new int[0],
          new int[0],
          new long[0],
          false,
          new boolean[0],
          new boolean[0],
          0,
          null,
          null,
          null);

  /**
   * The amount that the width of a node stands for: its weight, or its baseline if that is more.
   */
  public long extent(int index) {
    return baseline == null ? weight[index] : Math.max(weight[index], baseline[index]);
  }

  /** The share of a node's weight in which tasks waited for a CPU, 0 to 1; 0 if it is not told. */
  public double queuedShare(int index) {
    return queued == null || weight[index] <= 0
        ? 0
        : Math.min(1, (double) queued[index] / weight[index]);
  }

  /** The weight of a node in what the graph is compared with; 0 if it is compared with nothing. */
  public long before(int index) {
    return baseline == null ? 0 : baseline[index];
  }

  /** Index of a node; -1 if it is not listed. */
  public int find(long number) {
    for (int i = 0; i < node.length; i++) {
      if (node[i] == number) {
        return i;
      }
    }
    return -1;
  }

  /** Whether a number can be of a node of this tree; else it is of one that was shown before. */
  public boolean has(long number) {
    return number == GraphQuery.ROOT
        || node.length < 2
        || number >>> 32 == node[node.length - 1] >>> 32;
  }

  /** Whether all that is on a node is here, listed or summed up. */
  public boolean isWhole(int index) {
    return index > zoomIndex || index == zoomIndex && !opened;
  }

  public int size() {
    return node.length;
  }
}
