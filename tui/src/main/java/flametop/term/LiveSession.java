package flametop.term;

import flametop.profile.answer.SnapshotSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * What runs behind the screen once sampling is open.
 *
 * @param host name of the machine that is sampled, or was when the stream was recorded
 * @param target what is sampled, as the header says it: {@code all tasks}, {@code pid 812}, {@code
 *     replay of FILE}
 * @param source answers with snapshots and takes the filter
 * @param rates null where the rates are given (a replay)
 * @param jvmMaps begins to ask JVMs for maps of their compiled code, or stops; returns whether they
 *     are asked now. Null in a replay
 * @param exporter null where nothing can be exported
 * @param end completes with the exit code when the screen is to end by itself; null: it never is
 */
public record LiveSession(
    String host,
    String target,
    SnapshotSource source,
    RateControl rates,
    BooleanSupplier jvmMaps,
    Exporter exporter,
    CompletableFuture<Integer> end) {}
