package flametop.profile.answer;

import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The source of the screen's pictures: a {@link LiveSource} or a {@link FileSource}. No method
 * waits; a future that fails ends the screen with the cause of the failure.
 */
public interface SnapshotSource {
  CompletableFuture<Snapshot> snapshot(GraphQuery query);

  /** The page that a view shows beside the snapshot. */
  CompletableFuture<Page> page(PageQuery query);

  /** Rows of a pick list by the amounts in {@code states}, the heaviest first. */
  CompletableFuture<List<ProcessRow>> rows(ProcessRow.By by, StateSet states);

  void shape(Shape shape);
}
