package flametop.term;

import flametop.term.device.TerminalInput;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Events from any thread in the order of their arrival, for the thread of the screen. */
final class ScreenEvents implements TerminalInput.Listener {
  /**
   * How many inputs are read ahead at most. The rest waits in the buffer of the terminal, which is
   * bounded.
   */
  private static final int MAX_AHEAD = 4_096;

  private static final long AHEAD_MILLIS = 5;

  private final LinkedBlockingQueue<ScreenEvent> queue = new LinkedBlockingQueue<>();

  void add(ScreenEvent event) {
    queue.add(event);
  }

  /** Makes an event of the value or failure of a future. */
  <T> void tell(
      CompletableFuture<T> future,
      Function<T, ScreenEvent> value,
      Function<Throwable, ScreenEvent> failure) {
    CompletableFuture<?> unused =
        future.whenComplete((v, e) -> queue.add(e == null ? value.apply(v) : failure.apply(e)));
  }

  /** The next event; null if none comes in time. */
  @Nullable ScreenEvent next(long nanos) throws InterruptedException {
    return queue.poll(nanos, TimeUnit.NANOSECONDS);
  }

  /** The next event; null if there is none. */
  @Nullable ScreenEvent next() {
    return queue.poll();
  }

  /** Drops waiting events of a class. */
  void drop(Class<? extends ScreenEvent> of) {
    queue.removeIf(of::isInstance);
  }

  /** Adds an input, once there is room. */
  private void done(ScreenEvent event) {
    try {
      while (queue.size() >= MAX_AHEAD) {
        Thread.sleep(AHEAD_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    add(event);
  }

  @Override
  public void pressed(Key key, boolean inText) {
    done(new ScreenEvent.Pressed(key, inText));
  }

  @Override
  public void pasted(String text) {
    done(new ScreenEvent.Pasted(text));
  }

  @Override
  public void moved(Mouse mouse) {
    done(new ScreenEvent.Moved(mouse));
  }

  @Override
  public void suspended() {
    add(new ScreenEvent.Suspended());
  }

  @Override
  public void gone() {
    add(new ScreenEvent.TerminalGone());
  }
}
