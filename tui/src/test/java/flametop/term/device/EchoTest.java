package flametop.term.device;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class EchoTest {
  private static final long MILLIS = 1_000_000L;
  private static final int PICTURE = 4_000;

  private final Echo echo = new Echo();

  /** Asked at 0, answered after 30 ms. */
  private void know() {
    echo.restart();
    assertTrue(echo.sending(20, 0));
    echo.answered(30 * MILLIS);
  }

  @Test
  void sending_littleByLittle_asksWhereItIsWorthIt() {
    know();
    assertFalse(echo.sending(600, 0));
    assertTrue(echo.sending(600, 0));
    assertFalse(echo.sending(PICTURE, 0), "asked already");
    echo.answered(0);
    assertTrue(echo.sending(100, 0), "the picture was not asked about");
    assertFalse(echo.sending(100, 0));
  }

  @Test
  void isLate_noAnswerYet_afterTheFastestAndSomeMore() {
    know();
    echo.sending(PICTURE, 1_000 * MILLIS);
    assertFalse(echo.isLate(1_120 * MILLIS));
    assertTrue(echo.isLate(1_140 * MILLIS));
    echo.answered(1_150 * MILLIS);
    assertFalse(echo.isLate(1_160 * MILLIS));
  }

  @Test
  void isLate_neverAnswered_isNot() {
    echo.restart();
    echo.sending(PICTURE, 0);
    assertFalse(echo.isLate(5_000 * MILLIS));
    assertFalse(echo.isLate(50_000 * MILLIS));
  }

  @Test
  void isLate_stoppedAnswering_isNotAfterSomePictures() {
    know();
    long now = 0;
    for (int i = 0; i < 3; i++) {
      assertTrue(echo.sending(PICTURE, now));
      assertTrue(echo.isLate(now + 9_000 * MILLIS));
      assertFalse(echo.isLate(now + 11_000 * MILLIS));
      now += 11_000 * MILLIS;
    }
    echo.sending(PICTURE, now);
    assertFalse(echo.isLate(now + 5_000 * MILLIS));
    echo.answered(now + 6_000 * MILLIS);
    echo.sending(PICTURE, now + 7_000 * MILLIS);
    assertTrue(echo.isLate(now + 8_000 * MILLIS));
  }
}
