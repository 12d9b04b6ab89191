package flametop.profile.tree;

import flametop.profile.answer.Measure;
import flametop.profile.answer.Shape;

/**
 * How a {@code Profile} is kept; fixed for its life but for the shape.
 *
 * @param historyBytes memory for the log of changes in full; older history becomes sums, which take
 *     a quarter as much more
 * @param shape of the graph at first
 * @param hideRoots whether frames that only say that nothing called them ({@code [thread start]})
 *     are left out of the graph; folded stacks keep them
 * @param foldIdle whether stacks of threads that wait for work are one frame in the graph, unless
 *     the shape {@linkplain Shape.ShowIdle shows} them
 * @param measure of the amounts that the log places
 */
public record Options(
    Shape shape, long historyBytes, boolean hideRoots, boolean foldIdle, Measure measure) {
  /** 16 MiB. */
  public static final long DEFAULT_HISTORY_BYTES = 16L << 20;

  /** Options for the time of tasks, with all stacks as they are. */
  public Options(Shape shape, long historyBytes, boolean hideRoots) {
    this(shape, historyBytes, hideRoots, false, Measure.TIME);
  }

  /** Options for the time of tasks on a screen. */
  public static Options ofScreen(Shape shape, long historyBytes) {
    return new Options(shape, historyBytes, true, true, Measure.TIME);
  }

  public static final Options DEFAULT = new Options(Shape.PLAIN, DEFAULT_HISTORY_BYTES, true);
}
