package flametop.profile.live;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A thread that does what stands in one queue, in its order, and between two items a slice of the
 * work that can wait. What fails there ends all work: requests fail from then on.
 */
final class Worker {
  private final LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
  private final String name;
  private final BooleanSupplier due;
  private final Runnable slice;

  private volatile Throwable failure;
  private volatile boolean closed;

  /**
   * Starts the thread.
   *
   * @param due whether there is work that can wait
   * @param slice does some of that work
   */
  Worker(String name, BooleanSupplier due, Runnable slice) {
    this.name = name;
    this.due = due;
    this.slice = slice;
    Thread thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** Answers a question; the future fails where work has failed, or is closed. */
  <T> CompletableFuture<T> request(Supplier<T> answer) {
    CompletableFuture<T> future = new CompletableFuture<>();
    Runnable run =
        () -> {
          if (failure != null) {
            future.completeExceptionally(
                new IllegalStateException("the " + name + " failed: " + failure, failure));
            return;
          }
          if (closed) {
            future.completeExceptionally(new IllegalStateException("the " + name + " is closed"));
            return;
          }
          T value;
          try {
            value = answer.get();
          } catch (Throwable t) {
            failure = t;
            future.completeExceptionally(
                new IllegalStateException("the " + name + " failed: " + t, t));
            return;
          }
          future.complete(value);
        };
    if (!offer(run)) {
      run.run();
    }
    return future;
  }

  /** Makes a change, unless work has failed or is closed by then. */
  void enqueue(Runnable change) {
    offer(
        () -> {
          if (!isOver()) {
            change.run();
          }
        });
  }

  /** Queues an item; false if nobody will run it. */
  boolean offer(Runnable item) {
    if (closed) {
      return false;
    }
    queue.add(item);
    // The thread may have ended in between; then it is for this one to take the item back.
    return !closed || !queue.remove(item);
  }

  /** Whether work has failed or is closed. */
  boolean isOver() {
    return failure != null || closed;
  }

  /** What failed, if anything did. */
  Optional<Throwable> failure() {
    return Optional.ofNullable(failure);
  }

  /** Ends the thread when what came before is done. */
  void close() {
    offer(() -> closed = true);
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
        failure = t;
      }
    }
    for (Runnable item = queue.poll(); item != null; item = queue.poll()) {
      item.run();
    }
  }
}
