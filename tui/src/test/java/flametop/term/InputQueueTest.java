package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class InputQueueTest {
  /** Clocks of the JVM may begin anywhere. */
  private final long begin = latest() - 10;

  private final InputQueue input = new InputQueue();

  private static long latest() {
    return Long.MAX_VALUE;
  }

  private static ScreenEvent.Input typed(String text) {
    return new ScreenEvent.Pasted(text);
  }

  @Test
  void next_nothingIsAwaited_isThereAtOnce() {
    input.add(typed("a"));
    assertEquals(0, input.untilDue(begin));
    assertEquals(typed("a"), input.next(begin, () -> false));
    assertNull(input.next(begin, () -> true));
  }

  @Test
  void next_answerIsAwaited_waitsUntilItIsHere() {
    input.awaitAnswer(begin);
    input.add(typed("a"));
    input.add(typed("b"));
    assertNull(input.next(begin + 1, () -> false));
    assertEquals(InputQueue.PATIENCE_NANOS - 1, input.untilDue(begin + 1));
    assertEquals(typed("a"), input.next(begin + 2, () -> true));
    // Only what was told is waited for.
    assertEquals(typed("b"), input.next(begin + 3, () -> false));
  }

  @Test
  void next_answerNeverComes_isDoneAllTheSame() {
    input.awaitAnswer(begin);
    input.add(typed("q"));
    assertNull(input.next(begin + InputQueue.PATIENCE_NANOS - 1, () -> false));
    assertEquals(0, input.untilDue(begin + InputQueue.PATIENCE_NANOS));
    assertEquals(typed("q"), input.next(begin + InputQueue.PATIENCE_NANOS, () -> false));
  }

  @Test
  void untilDue_nothingTyped_isNever() {
    input.awaitAnswer(begin);
    assertEquals(Long.MAX_VALUE, input.untilDue(begin + 1));
  }
}
