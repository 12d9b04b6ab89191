package flametop.term;

import flametop.view.base.CellGrid;
import flametop.view.state.Effect;
import java.util.concurrent.CompletableFuture;

/** Writes the shown picture or stacks to a file. */
@FunctionalInterface
public interface Exporter {
  /**
   * Exports.
   *
   * @param screen the screen as it looks, without the list of formats
   * @param theme the colours of the screen
   * @return a line with path, size and content; the message of a failure is a line for people, too
   */
  CompletableFuture<String> export(Effect.Export what, CellGrid screen, Theme theme);

  /** Abandons exports that are not written yet, and leaves nothing of them. */
  default void abandon() {}
}
