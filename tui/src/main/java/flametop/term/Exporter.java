package flametop.term;

import flametop.profile.StateSet;
import java.util.concurrent.CompletableFuture;

/** Writes what is shown to a file. */
@FunctionalInterface
public interface Exporter {
  /**
   * Exports folded stacks of the last {@code windowNanos} ({@link Long#MAX_VALUE}: all) in {@code
   * states}, below node {@code zoom}.
   *
   * @return a line with the path, the size and what is in it; a failure's message is a line for
   *     people, too
   */
  CompletableFuture<String> export(long windowNanos, StateSet states, long zoom);
}
