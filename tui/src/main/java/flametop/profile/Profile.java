package flametop.profile;

import flametop.sampler.BatchSink;
import flametop.sampler.NameRequests;
import flametop.sampler.StreamFacts;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/** Where the threads spend their time: takes the stream, answers requests. Has a thread of its own; no method waits for it. */
public final class Profile implements BatchSink, AutoCloseable {
  public Profile(StreamFacts facts, Options options, NameRequests names) {}

  /** The picture that was asked for. */
  public CompletableFuture<Snapshot> snapshot(GraphQuery query) {
    throw new UnsupportedOperationException();
  }

  /** Processes with their time, whatever the filter is; heaviest first. */
  public CompletableFuture<List<ProcessRow>> processes(long windowNanos, StateSet states) {
    throw new UnsupportedOperationException();
  }

  /** Like {@link #processes}, those of one comm together. */
  public CompletableFuture<List<ProcessRow>> comms(long windowNanos, StateSet states) {
    throw new UnsupportedOperationException();
  }

  /**
   * Folded stacks, ordered by their names.
   *
   * @param zoom only those that pass through this node; {@link GraphQuery#ROOT} for all
   * @param samples values are passes seen (off the CPU) and samples of the CPU clock (on it) instead of ns
   */
  public CompletableFuture<List<FoldedStack>> folded(long windowNanos, StateSet states, long zoom, boolean samples) {
    throw new UnsupportedOperationException();
  }

  /** Totals by {@link flametop.sampler.Counter#ordinal()}, since the stream began. */
  public CompletableFuture<long[]> counters() {
    throw new UnsupportedOperationException();
  }

  /** Narrows what is shown, the past included. */
  public void filter(TaskFilter filter) {
    throw new UnsupportedOperationException();
  }

  /** Holds the moment that is shown; sampling goes on. */
  public void freeze() {
    throw new UnsupportedOperationException();
  }

  /** Shows the present again. */
  public void thaw() {
    throw new UnsupportedOperationException();
  }

  /** Starts anew: what was before counts no more. */
  public void restart() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void ended(Throwable cause) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {
    throw new UnsupportedOperationException();
  }
}
