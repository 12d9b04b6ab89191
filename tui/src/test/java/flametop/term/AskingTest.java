package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class AskingTest {
  /** Clocks of the JVM may begin anywhere. */
  private static final long BEGIN = Long.MAX_VALUE - 10;

  private static final long REFRESH = 250_000_000L;

  private final Asking asking = new Asking(BEGIN);

  @Test
  void isDue_atTheBeginningAndAfterEachRefresh() {
    assertTrue(asking.isDue(BEGIN));
    asking.asked(BEGIN, REFRESH);
    asking.answered(BEGIN + 5, false);
    assertFalse(asking.isDue(BEGIN + REFRESH - 1));
    assertEquals(1, asking.untilDue(BEGIN + REFRESH - 1));
    assertTrue(asking.isDue(BEGIN + REFRESH));
    assertEquals(0, asking.untilDue(BEGIN + REFRESH));
  }

  @Test
  void isDue_answerUnderWay_notEvenForAKey() {
    asking.asked(BEGIN, REFRESH);
    asking.forKey(BEGIN + 1);
    assertFalse(asking.isDue(BEGIN + 10 * REFRESH));
    asking.answered(BEGIN + 2, false);
    assertTrue(asking.isDue(BEGIN + 2), "the answer was to the question before the key");
  }

  @Test
  void isDue_lastAnswer_onlyForAKey() {
    asking.asked(BEGIN, REFRESH);
    asking.answered(BEGIN + 1, true);
    assertFalse(asking.isDue(BEGIN + 1_000_000 * REFRESH));
    asking.soon(BEGIN + 2);
    assertTrue(asking.isDue(BEGIN + 2));
  }

  @Test
  void isDue_keyWhileTheLastAnswerWasUnderWay_true() {
    asking.asked(BEGIN, REFRESH);
    asking.soon(BEGIN + 1);
    asking.answered(BEGIN + 2, true);
    assertTrue(asking.isDue(BEGIN + 2));
  }

  @Test
  void isAwaiting_keyThatAsks_forAMomentAndUntilAnswered() {
    asking.forKey(BEGIN);
    assertFalse(asking.isAwaiting(BEGIN), "nothing is asked yet");
    asking.asked(BEGIN, REFRESH);
    assertTrue(asking.isAwaiting(BEGIN));
    assertEquals(Asking.ANSWER_NANOS, asking.untilAnswer(BEGIN));
    assertFalse(asking.isAwaiting(BEGIN + Asking.ANSWER_NANOS));
    asking.answered(BEGIN + 1, false);
    assertFalse(asking.isAwaiting(BEGIN + 1));
  }
}
