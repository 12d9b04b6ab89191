package flametop.term;

import flametop.view.Key;
import flametop.view.Mouse;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Events in the order in which they came, from any thread, for the one of the screen. */
final class ScreenEvents implements TerminalInput.Listener {
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

  @Override
  public void pressed(Key key, boolean inText) {
    add(new ScreenEvent.Pressed(key, inText));
  }

  @Override
  public void pasted(String text) {
    add(new ScreenEvent.Pasted(text));
  }

  @Override
  public void moved(Mouse mouse) {
    add(new ScreenEvent.Moved(mouse));
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
