package flametop.profile.answer;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A source of pictures that go on by themselves and have a past: a machine, or a recording. */
public interface LiveSource extends SnapshotSource {
  /**
   * Rows of the pick list of processes, for the last {@code windowNanos} and the time in {@code
   * states}; the heaviest first.
   */
  CompletableFuture<List<ProcessRow>> processes(long windowNanos, StateSet states);

  /** Rows of the pick list of control groups, the heaviest first. */
  CompletableFuture<List<ProcessRow>> cgroups(long windowNanos, StateSet states);

  /** Where a node is in the source, as far as it is known by now. */
  CompletableFuture<Source> source(long windowNanos, StateSet states, long node);

  void freeze();

  void thaw();

  void restart();

  /**
   * Shows the time between two moments of the past, ns of CLOCK_MONOTONIC, instead of the last so
   * many ns.
   */
  void range(long from, long to);

  /** Shows the last so many ns again, as each query says. */
  void endRange();

  /** Compares later pictures with the one that is shown now. */
  void holdBaseline();

  /** Ends the comparison. */
  void releaseBaseline();
}
