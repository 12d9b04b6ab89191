package flametop.term;

import flametop.profile.GraphQuery;
import flametop.profile.Page;
import flametop.profile.PageQuery;
import flametop.profile.ProcessRow;
import flametop.profile.Profile;
import flametop.profile.Shape;
import flametop.profile.Snapshot;
import flametop.profile.Source;
import flametop.profile.StateSet;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The side of the profile that the screen asks. Nothing here waits; a future that fails ends the
 * screen with its cause.
 */
public interface SnapshotSource {
  CompletableFuture<Snapshot> snapshot(GraphQuery query);

  /**
   * Rows of the pick list of processes, for the last {@code windowNanos} and the time in {@code
   * states}.
   */
  CompletableFuture<List<ProcessRow>> processes(long windowNanos, StateSet states);

  /** What a view shows beside the snapshot. */
  CompletableFuture<Page> page(PageQuery query);

  /** Rows of the pick list of comms. */
  CompletableFuture<List<ProcessRow>> comms(long windowNanos, StateSet states);

  /** Where a node is in the source, as far as it is known by now. */
  CompletableFuture<Source> source(long windowNanos, StateSet states, long node);

  void shape(Shape shape);

  void freeze();

  void thaw();

  void restart();

  /** The profile as such a source. */
  static SnapshotSource of(Profile profile) {
    return new SnapshotSource() {
      @Override
      public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
        return profile.snapshot(query);
      }

      @Override
      public CompletableFuture<Page> page(PageQuery query) {
        return profile.page(query);
      }

      @Override
      public CompletableFuture<List<ProcessRow>> processes(long windowNanos, StateSet states) {
        return profile.processes(windowNanos, states);
      }

      @Override
      public CompletableFuture<List<ProcessRow>> comms(long windowNanos, StateSet states) {
        return profile.comms(windowNanos, states);
      }

      @Override
      public CompletableFuture<Source> source(long windowNanos, StateSet states, long node) {
        return profile.source(windowNanos, states, node);
      }

      @Override
      public void shape(Shape shape) {
        profile.shape(shape);
      }

      @Override
      public void freeze() {
        profile.freeze();
      }

      @Override
      public void thaw() {
        profile.thaw();
      }

      @Override
      public void restart() {
        profile.restart();
      }
    };
  }
}
