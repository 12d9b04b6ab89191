package flametop.profile.tree;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A thread that alone touches the data it works on. Questions and changes stand in one queue, in
 * the order they came; between two of them the thread does a slice of the work that can wait, so a
 * question waits for one slice at most. No method waits.
 *
 * <p>Futures complete on the thread: what depends on them must be short or go elsewhere. They fail
 * with {@link IllegalStateException} once the worker is closed or {@link #failure} is there.
 */
public final class Worker implements AutoCloseable {
  /** How long a slice takes, ns. */
  public static final long SLICE_NANOS = 5_000_000;

  private final LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
  private final String name;
  private final BooleanSupplier due;
  private final Runnable slice;
  private final Predicate<Throwable> refusals;
  private final Runnable failed;

  /** The failure that ended the worker; null while the worker goes on. */
  private volatile @Nullable Throwable failure;

  private volatile boolean closed;

  /**
   * Starts a worker that any failure ends.
   *
   * @param name of the thread, and of its data for people
   * @param due whether there is work that can wait
   * @param slice does some of that work
   */
  public Worker(String name, BooleanSupplier due, Runnable slice) {
    this(name, due, slice, failure -> false, () -> {});
  }

  /**
   * Starts a worker.
   *
   * @param refusals whether a failure is the answer to one question, and not the end of all work
   * @param failed called on the thread once the worker can go on no more
   */
  public Worker(
      String name,
      BooleanSupplier due,
      Runnable slice,
      Predicate<Throwable> refusals,
      Runnable failed) {
    this.name = name;
    this.due = due;
    this.slice = slice;
    this.refusals = refusals;
    this.failed = failed;
    Thread thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Asks a question. */
  public <T> CompletableFuture<T> request(Supplier<T> question) {
    CompletableFuture<T> future = new CompletableFuture<>();
    Runnable run = () -> answer(question, future);
    if (!offer(run)) {
      run.run();
    }
    return future;
  }

  private <T> void answer(Supplier<T> question, CompletableFuture<T> future) {
    if (isOver()) {
      future.completeExceptionally(refusal());
      return;
    }
    T answer;
    try {
      answer = question.get();
    } catch (Throwable t) {
      if (refusals.test(t)) {
        future.completeExceptionally(t);
      } else {
        fail(t);
        future.completeExceptionally(refusal());
      }
      return;
    }
    future.complete(answer);
  }

  /** Why no question is answered any more. */
  private IllegalStateException refusal() {
    return failure == null
        ? new IllegalStateException("the " + name + " is closed")
        : new IllegalStateException("the " + name + " failed: " + failure, failure);
  }

  /** Queues a change, which is made unless the worker fails or is closed before. */
  public void enqueue(Runnable change) {
    boolean unused =
        offer(
            () -> {
              if (!isOver()) {
                change.run();
              }
            });
  }

  /**
   * Queues an item, which is done even if the worker has failed. Returns false if nobody will do
   * the item.
   */
  public boolean offer(Runnable item) {
    if (closed) {
      return false;
    }
    queue.add(item);
    // The thread may have ended in between; then it is for this one to take the item back.
    return !closed || !queue.remove(item);
  }

  /** Whether the worker failed or was closed. */
  public boolean isOver() {
    return failure != null || closed;
  }

  /** Ends all work. */
  public void fail(Throwable why) {
    failure = why;
    boolean unused = offer(failed);
  }

  /** Why the worker can go on no more, if so: a defect, or no memory. */
  public Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }

  private void run() {
    while (!closed) {
      try {
        boolean waits = failure == null && due.getAsBoolean();
        Runnable item = waits ? queue.poll() : queue.take();
        if (item != null) {
          item.run();
        }
        if (waits && failure == null) {
          slice.run();
        }
      } catch (InterruptedException e) {
        closed = true;
      } catch (Throwable t) {
        fail(t);
      }
    }
    for (Runnable item = queue.poll(); item != null; item = queue.poll()) {
      item.run();
    }
  }

  /** Ends the thread when what came before is done. */
  @Override
  public void close() {
    boolean unused = offer(() -> closed = true);
  }
}
