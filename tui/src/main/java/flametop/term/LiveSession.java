package flametop.term;

import flametop.view.screen.ScreenSource;
import flametop.view.state.EventControl;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The running parts behind the screen, once sampling is open.
 *
 * @param host name of the machine that is sampled, or that recorded the stream
 * @param target the sampled tasks, in the words of the header: {@code all tasks}, {@code pid 812},
 *     {@code replay of FILE}
 * @param source answers with snapshots and takes commands
 * @param rates null if the rates cannot change (a replay)
 * @param events switches sources of events. Null in a replay
 * @param end completes with the exit code when the screen must end by itself, if it ever must
 */
public record LiveSession(
    String host,
    String target,
    ScreenSource source,
    @Nullable RateControl rates,
    @Nullable EventControl events,
    Exporter exporter,
    CompletableFuture<Integer> end) {}
