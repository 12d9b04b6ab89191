package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class ResizingTest {
  private static final long MILLIS = 1_000_000L;

  private final Resizing resizing = new Resizing();

  @Test
  void isOver_noNewSize_false() {
    assertFalse(resizing.isUnderWay());
    assertFalse(resizing.isOver(Long.MAX_VALUE));
    assertEquals(Long.MAX_VALUE, resizing.untilOver(0));
  }

  @Test
  void isOver_oneNewSize_onceAfterAPause() {
    resizing.changed(0);
    assertTrue(resizing.isUnderWay());
    long pause = resizing.untilOver(0);
    assertFalse(resizing.isOver(pause - 1));
    assertTrue(resizing.isOver(pause));
    assertFalse(resizing.isUnderWay());
    assertFalse(resizing.isOver(pause));
  }

  @Test
  void isOver_sizesWithoutAPause_nowAndThen() {
    int over = 0;
    for (long now = 0; now < 1_000 * MILLIS; now += 10 * MILLIS) {
      resizing.changed(now);
      over += resizing.isOver(now) ? 1 : 0;
    }
    assertEquals(3, over);
  }
}
