package flametop.profile.answer;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What the screen asks for its pictures: a {@code Profile}, or a file of stacks. Nothing here
 * waits; a future that fails ends the screen with its cause.
 */
public interface SnapshotSource {
  CompletableFuture<Snapshot> snapshot(GraphQuery query);

  /**
   * Rows of the pick list of processes, for the last {@code windowNanos} and the time in {@code
   * states}; the heaviest first.
   */
  CompletableFuture<List<ProcessRow>> processes(long windowNanos, StateSet states);

  /** What a view shows beside the snapshot. */
  CompletableFuture<Page> page(PageQuery query);

  /** Rows of the pick list of comms, the heaviest first. */
  CompletableFuture<List<ProcessRow>> comms(long windowNanos, StateSet states);

  /** Rows of the pick list of control groups, the heaviest first. */
  default CompletableFuture<List<ProcessRow>> cgroups(long windowNanos, StateSet states) {
    return CompletableFuture.completedFuture(List.of());
  }

  /** Where a node is in the source, as far as it is known by now. */
  CompletableFuture<Source> source(long windowNanos, StateSet states, long node);

  void shape(Shape shape);

  void freeze();

  void thaw();

  void restart();

  /**
   * Shows what was between two moments of the past, ns of CLOCK_MONOTONIC, instead of the last so
   * many ns; where there is no time, nothing.
   */
  default void range(long from, long to) {}

  /** Shows the last so many ns again, as each query says. */
  default void endRange() {}

  /** What is shown now is what later pictures are compared with. */
  default void holdBaseline() {}

  /** Nothing is compared any more. */
  default void releaseBaseline() {}

  /** Goes on to the next (1) or previous (-1) of several files; nothing where there is one. */
  default void turn(int by) {}
}
