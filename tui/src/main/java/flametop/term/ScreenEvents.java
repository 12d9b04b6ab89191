package flametop.term;

import flametop.term.device.TerminalInput;
import flametop.view.base.Key;
import flametop.view.base.Mouse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Events in the order in which they came, from any thread, for the one of the screen. */
final class ScreenEvents implements TerminalInput.Listener {
  /**
   * What somebody does is read no further ahead: the terminal's own buffer is bounded, and holds up
   * the rest.
   */
  private static final int MAX_AHEAD = 4_096;

  private static final long AHEAD_MILLIS = 5;

  private final LinkedBlockingQueue<ScreenEvent> queue = new LinkedBlockingQueue<>();

  void add(ScreenEvent event) {
    queue.add(event);
  }

  /** What the future brings, value or failure, becomes an event. */
  <T> void tell(
      CompletableFuture<T> future,
      Function<T, ScreenEvent> value,
      Function<Throwable, ScreenEvent> failure) {
    CompletableFuture<?> unused =
        future.whenComplete((v, e) -> queue.add(e == null ? value.apply(v) : failure.apply(e)));
  }

  /** The next one; null if there is none for so long. */
  ScreenEvent next(long nanos) throws InterruptedException {
    return queue.poll(nanos, TimeUnit.NANOSECONDS);
  }

  /** The next one; null if there is none. */
  ScreenEvent next() {
    return queue.poll();
  }

  /** Drops what has come of these. */
  void drop(Class<? extends ScreenEvent> of) {
    queue.removeIf(of::isInstance);
  }

  /** Adds what somebody did, once there is room for it. */
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
