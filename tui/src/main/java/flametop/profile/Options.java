package flametop.profile;

/**
 * How a {@link Profile} is kept; fixed for its life but for the filter.
 *
 * @param rootOrder what stands between the root and the frames
 * @param historyBytes memory for the log of changes; older history becomes sums per second, then
 *     one sum
 * @param filter shown at first
 * @param hideRoots whether frames that only say that nothing called them ({@code [thread start]})
 *     are left out of the graph; folded stacks keep them
 */
public record Options(
    RootOrder rootOrder, long historyBytes, TaskFilter filter, boolean hideRoots) {
  /** 16 MiB. */
  public static final long DEFAULT_HISTORY_BYTES = 16L << 20;

  public static final Options DEFAULT =
      new Options(RootOrder.COMM, DEFAULT_HISTORY_BYTES, TaskFilter.NONE, true);
}
