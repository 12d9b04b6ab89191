package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class PassPaceTest {
  private static final long PERIOD = 52_631_578;
  private static final int PASSES = 200_000;

  private final PassPace pace = new PassPace(new SplittableRandom(1));

  @Test
  void next_any_isEvenFromHalfToOneAndAHalfOfThePeriod() {
    int[] tenths = new int[10];
    for (int i = 0; i < PASSES; i++) {
      double part = (double) pace.next(PERIOD) / PERIOD - 0.5;
      assertTrue(part >= 0 && part <= 1, "" + part);
      tenths[Math.min(9, (int) (10 * part))]++;
    }
    // 20,000 each; the standard deviation is 134.
    for (int tenth : tenths) {
      assertTrue(Math.abs(tenth - PASSES / 10) < 700, "" + tenth);
    }
  }

  @Test
  void next_longTime_deadlinesStayNearThoseOfAnEvenPace() {
    long deadline = 0;
    double most = 0;
    for (int i = 1; i <= PASSES; i++) {
      deadline += pace.next(PERIOD);
      most = Math.max(most, Math.abs((double) deadline / PERIOD - i));
    }
    assertTrue(most > 1 && most < PassPace.MOST_ASTRAY + 0.01, "" + most);
  }

  @Test
  void next_cyclesInStepWithThePeriod_phasesAreEvenAndNeighboursIndependent() {
    for (int cycles = 1; cycles <= 3; cycles++) {
      double[] phases = new double[PASSES];
      long deadline = 0;
      for (int i = 0; i < PASSES; i++) {
        deadline += pace.next(PERIOD);
        phases[i] = Math.cos(2 * Math.PI * cycles * ((double) deadline / PERIOD));
      }
      double mean = 0;
      double together = 0;
      for (int i = 1; i < PASSES; i++) {
        mean += phases[i] / PASSES;
        together += 2 * phases[i] * phases[i - 1] / PASSES;
      }
      // Standard errors 0.0016 and 0.0022; at the bound neighbours know a little of each other.
      assertTrue(Math.abs(mean) < 0.01, "mean " + mean);
      assertTrue(Math.abs(together) < 0.05, "neighbours " + together);
    }
  }
}
