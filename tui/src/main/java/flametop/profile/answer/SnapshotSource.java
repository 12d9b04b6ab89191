package flametop.profile.answer;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What the screen asks for its pictures: a {@link LiveSource} or a {@link FileSource}. Nothing here
 * waits; a future that fails ends the screen with its cause.
 */
public interface SnapshotSource {
  CompletableFuture<Snapshot> snapshot(GraphQuery query);

  /** What a view shows beside the snapshot. */
  CompletableFuture<Page> page(PageQuery query);

  /** Rows of the pick list of comms, the heaviest first. */
  CompletableFuture<List<ProcessRow>> comms(StateSet states);

  void shape(Shape shape);
}
