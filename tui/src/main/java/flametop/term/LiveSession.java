package flametop.term;

import flametop.view.base.CellGrid;
import flametop.view.screen.ScreenSource;
import flametop.view.state.Effect;
import flametop.view.state.EventControl;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The running parts behind the screen, once sampling is open.
 *
 * @param source answers with snapshots and takes commands
 * @param rates null if the rates cannot change (a replay)
 * @param events switches sources of events. Null in a replay
 * @param end completes with the exit code when the screen must end by itself, if it ever must
 */
public record LiveSession(
    ScreenSource source,
    @Nullable Rates rates,
    @Nullable EventControl events,
    Exporter exporter,
    CompletableFuture<Integer> end) {
  /** Changes both sampling clocks while they run. */
  @FunctionalInterface
  public interface Rates {
    /**
     * @param passHz passes a second
     * @param cpuHz samples a second and CPU; 0 switches the CPU clock off
     */
    void set(int passHz, int cpuHz);
  }

  /** Writes the shown picture or stacks to a file. */
  @FunctionalInterface
  public interface Exporter {
    /**
     * Exports.
     *
     * @param screen the screen as it looks, without the list of formats
     * @param theme the colours of the screen
     * @return a line with path, size and content; the message of a failure is a line for people,
     *     too
     */
    CompletableFuture<String> export(Effect.Export what, CellGrid screen, Theme theme);

    /** Abandons exports that are not written yet, and leaves nothing of them. */
    default void abandon() {}
  }
}
