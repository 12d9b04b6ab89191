package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.view.base.Key;
import org.junit.jupiter.api.Test;

class ScreenEventsTest {
  private static final int KEYS = 10_000;

  @Test
  void pressed_fasterThanTheyAreTaken_waitsAndLosesNone() throws InterruptedException {
    ScreenEvents events = new ScreenEvents();
    Thread reader =
        new Thread(
            () -> {
              for (int i = 0; i < KEYS; i++) {
                events.pressed(Key.of('a' + i % 26), false);
              }
            });
    reader.start();
    while (reader.getState() != Thread.State.TIMED_WAITING && reader.isAlive()) {
      Thread.onSpinWait();
    }
    assertTrue(reader.isAlive(), "it is held up");
    int taken = 0;
    for (ScreenEvent event; taken < KEYS; ) {
      event = events.next(1_000_000_000L);
      if (event instanceof ScreenEvent.Pressed pressed) {
        assertEquals(Key.of('a' + taken % 26), pressed.key());
        taken++;
      }
    }
    reader.join();
    assertEquals(null, events.next());
  }
}
