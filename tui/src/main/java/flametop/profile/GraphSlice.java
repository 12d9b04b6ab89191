package flametop.profile;

/**
 * The visible part of the graph at one moment: immutable, in pre-order, siblings ordered by name.
 * Index 0 is the root; the ancestors of the zoomed node come first, then the zoomed node at index
 * {@code zoomIndex} and what is below it.
 *
 * @param node opaque number of each node
 * @param parent index of its parent; -1 for the root
 * @param name clean name, whole
 * @param kind what it stands for
 * @param weight ns in the states asked for, its descendants included
 * @param before what {@code weight} is compared with, of the same total; null if with nothing
 * @param hiddenWeight {@link #extent} of those children of it that are too narrow to list
 * @param hiddenCount how many those are
 * @param matched whether its own name matches the search
 * @param zoomIndex index of the zoomed node
 */
public record GraphSlice(
    long[] node,
    int[] parent,
    String[] name,
    NodeKind[] kind,
    long[] weight,
    long[] before,
    long[] hiddenWeight,
    int[] hiddenCount,
    boolean[] matched,
    int zoomIndex) {
  /** What its width stands for: its weight, or what that was before if it was more. */
  public long extent(int index) {
    return before == null ? weight[index] : Math.max(weight[index], before[index]);
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

  public int size() {
    return node.length;
  }
}
