package flametop.term;

import flametop.view.base.CellGrid;
import flametop.view.state.Effect;
import java.util.concurrent.CompletableFuture;

/** Writes what is shown to a file. */
@FunctionalInterface
public interface Exporter {
  /**
   * Exports.
   *
   * @param screen as it looks, without the list of formats
   * @param theme its colours
   * @return a line with the path, the size and what is in it; a failure's message is a line for
   *     people, too
   */
  CompletableFuture<String> export(Effect.Export what, CellGrid screen, Theme theme);

  /** Gives up what is not written yet: nothing is left of it. */
  default void abandon() {}
}
