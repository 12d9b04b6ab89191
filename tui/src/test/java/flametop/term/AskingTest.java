package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class AskingTest {
  private static final long REFRESH = 250_000_000L;

  /** Clocks of the JVM may begin anywhere. */
  private final long begin = latest() - 10;

  private final Asking asking = new Asking(begin);

  private static long latest() {
    return Long.MAX_VALUE;
  }

  @Test
  void isDue_atTheBeginningAndAfterEachRefresh() {
    assertTrue(asking.isDue(begin));
    asking.asked(begin, REFRESH);
    asking.answered(begin + 5, false);
    assertFalse(asking.isDue(begin + REFRESH - 1));
    assertEquals(1, asking.untilDue(begin + REFRESH - 1));
    assertTrue(asking.isDue(begin + REFRESH));
    assertEquals(0, asking.untilDue(begin + REFRESH));
  }

  @Test
  void isDue_answerUnderWay_notEvenForAKey() {
    asking.asked(begin, REFRESH);
    asking.forKey(begin + 1);
    assertFalse(asking.isDue(begin + 10 * REFRESH));
    asking.answered(begin + 2, false);
    assertTrue(asking.isDue(begin + 2), "the answer was to the question before the key");
  }

  @Test
  void isDue_lastAnswer_onlyForAKey() {
    asking.asked(begin, REFRESH);
    asking.answered(begin + 1, true);
    assertFalse(asking.isDue(begin + 1_000_000 * REFRESH));
    asking.soon(begin + 2);
    assertTrue(asking.isDue(begin + 2));
  }

  @Test
  void isDue_keyWhileTheLastAnswerWasUnderWay_true() {
    asking.asked(begin, REFRESH);
    asking.soon(begin + 1);
    asking.answered(begin + 2, true);
    assertTrue(asking.isDue(begin + 2));
  }

  @Test
  void isAwaiting_keyThatAsks_forAMomentAndUntilAnswered() {
    asking.forKey(begin);
    assertFalse(asking.isAwaiting(begin), "nothing is asked yet");
    asking.asked(begin, REFRESH);
    assertTrue(asking.isAwaiting(begin));
    assertEquals(Asking.ANSWER_NANOS, asking.untilAnswer(begin));
    assertFalse(asking.isAwaiting(begin + Asking.ANSWER_NANOS));
    asking.answered(begin + 1, false);
    assertFalse(asking.isAwaiting(begin + 1));
  }
}
