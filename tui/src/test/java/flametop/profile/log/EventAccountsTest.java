package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.sampler.SourceTotals;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EventAccountsTest {
  private static final long MS = 1_000_000;
  private static final int A = 1;
  private static final int B = 2;
  private static final int TASK = 1;

  private final ChangeLog log = new ChangeLog(1 << 20, new Owners());
  private final EventAccounts accounts = new EventAccounts(log);
  private long time;

  private void settle(long weight, long millis) {
    SourceTotals before = accounts.totals();
    accounts.totals(
        new SourceTotals(before.hits() + 1, before.weight() + weight, 0, 0, 0, 0, 0, List.of()));
    time += millis * MS;
    accounts.settle(time);
    log.mark(time, 0);
  }

  /** What was placed, by stack. */
  private Map<Integer, Long> placed() {
    Map<Integer, Long> sums = new TreeMap<>();
    ChangeLog.Cursor cursor = log.start();
    while (log.more(cursor)) {
      log.forward(
          cursor, (owner, stack, spot, base, open, samples) -> sums.merge(stack, base, Long::sum));
    }
    return sums;
  }

  @Test
  void settle_everyEventWithItsStack_placesToTheDigit() {
    accounts.event(TASK, A, 7, 0);
    accounts.event(TASK, B, 1, 0);
    accounts.event(TASK, A, 7, 0);
    settle(15, 250);
    settle(0, 3_000);
    assertEquals(Map.of(A, 14L, B, 1L), placed());
  }

  @Test
  void stackWeight_ofSomeStacks_isTheMeanInWhichHeavyOnesCountMore() {
    accounts.event(TASK, A, 7, 0);
    settle(7, 250);
    assertEquals(0, accounts.stackWeight());
    accounts.event(TASK, A, 1, 100);
    accounts.event(TASK, B, 1, 300);
    settle(400, 2_000);
    settle(0, 1_000);
    assertEquals((100 * 99 + 300 * 299) / 407.0, accounts.stackWeight(), 3);
  }

  @Test
  void settle_eventThatTheTotalsDoNotHaveYet_waits() {
    accounts.event(TASK, A, 7, 0);
    settle(0, 250);
    assertEquals(Map.of(), placed());
    settle(7, 250);
    assertEquals(Map.of(A, 7L), placed());
  }

  @Test
  void settle_someEventsWithStacks_partsTheExactWeight() {
    accounts.event(TASK, A, 1, 100);
    accounts.event(TASK, B, 1, 100);
    accounts.event(TASK, A, 1, 100);
    settle(0, 0);
    settle(1_000, 250);
    assertEquals(Map.of(A, 2L, B, 1L), placed());
    settle(0, 1_000);
    settle(0, 1_000);
    assertEquals(Map.of(A, 667L, B, 333L), placed());
  }

  @Test
  void settle_noStackForASecondOrTwo_isNotSampled() {
    settle(0, 0);
    settle(10, 250);
    settle(5, 250);
    assertEquals(Map.of(), placed());
    settle(0, 600);
    settle(0, 1_000);
    assertEquals(Map.of(Stacks.NOT_SAMPLED, 15L), placed());
  }

  @Test
  void settle_weightThatWaitedShortly_goesToTheNextStacks() {
    settle(0, 0);
    settle(10, 250);
    accounts.event(TASK, A, 1, 100);
    settle(5, 250);
    settle(0, 3_000);
    settle(0, 1_000);
    assertEquals(Map.of(A, 15L), placed());
  }

  @Test
  void end_weightWithoutAStack_isNotSampled() {
    accounts.event(TASK, A, 2, 0);
    settle(10, 250);
    accounts.end();
    log.mark(time, 0);
    assertEquals(Map.of(A, 2L, Stacks.NOT_SAMPLED, 8L), placed());
  }

  @Test
  void settle_heavyEventAloneAmongManyLightOnes_getsNothingOfTheirs() {
    settle(0, 0);
    accounts.event(TASK, A, 1_000, 10);
    settle(5_000, 1_000);
    settle(0, 1_000);
    settle(0, 1_000);
    settle(0, 1_000);
    assertEquals(Map.of(A, 1_000L, Stacks.NOT_SAMPLED, 4_000L), placed());
  }

  /**
   * Light and heavy events, of which the kernel draws by exponential distances of weight: many
   * short runs, of few and of many stacks a second, and of several tails. The totals come five
   * times a second.
   */
  @ParameterizedTest
  @CsvSource({
    "200, 0.01, 400, 20",
    "1000, 0.002, 2000, 20",
    "1000, 0.5, 4, 20",
    "500, 0.004, 1000, 40",
    "200, 0.01, 400, 100",
    "1000, 0.002, 2000, 100"
  })
  void settle_lightAndHeavyEvents_sharesAreUnbiasedAndTheirSpreadIsTheOneExpected(
      int hits, double heavyOnes, double heavy, int stacks) {
    Random random = new Random(7);
    int runs = 200;
    double sum = 0;
    double squares = 0;
    double expected = 0;
    for (int run = 0; run < runs; run++) {
      Run one = new Run(random, hits, heavyOnes, heavy, stacks);
      for (int turn = 0; turn < 50; turn++) {
        one.turn();
      }
      double error = one.error();
      sum += error;
      squares += error * error;
      expected += one.variance / ((double) one.weight * one.weight);
    }
    double mean = sum / runs;
    double spread = Math.sqrt(squares / runs - mean * mean);
    double theory = Math.sqrt(expected / runs);
    String told = mean + " ± " + spread + ", expected " + theory;
    // Of one ratio every two seconds a bias is left that is small beside the spread.
    assertTrue(Math.abs(mean) < 4 * spread / Math.sqrt(runs) + 0.25 * theory, told);
    assertTrue(spread < 1.3 * theory, told);
  }

  /** A source of heavy events, A, and of light ones, B. */
  private static final class Run {
    private final Random random;
    private final int hits;
    private final double heavyOnes;
    private final double heavy;
    private final long rate;
    private final EventAccountsTest test = new EventAccountsTest();
    private double left;
    private long weight;
    private long ofA;

    /** Of the share of A by the best that can be done without the totals, times the weight². */
    private double variance;

    Run(Random random, int hits, double heavyOnes, double heavy, int stacks) {
      this.random = random;
      this.hits = hits;
      this.heavyOnes = heavyOnes;
      this.heavy = 1_000 * heavy;
      rate = (long) (hits * (heavyOnes * this.heavy + (1 - heavyOnes) * 1_000) / stacks);
      left = rate * random.nextExponential();
    }

    void turn() {
      long before = weight;
      for (int i = 0; i < hits / 5; i++) {
        boolean isHeavy = random.nextDouble() < heavyOnes;
        long of = 1 + (long) ((isHeavy ? heavy : 1_000) * random.nextExponential());
        weight += of;
        ofA += isHeavy ? of : 0;
        double taken = -Math.expm1(-(double) of / rate);
        double other = isHeavy ? 0.2 : 0.8;
        variance += other * other * of * of * (1 - taken) / taken;
        left -= of;
        if (left < 0) {
          test.accounts.event(TASK, isHeavy ? A : B, of, rate);
          left = rate * random.nextExponential();
        }
      }
      test.settle(weight - before, 200);
    }

    /** By how much the share of A is too large. */
    double error() {
      test.accounts.end();
      test.log.mark(test.time, 0);
      Map<Integer, Long> placed = test.placed();
      long sum = placed.values().stream().mapToLong(w -> w).sum();
      assertEquals(weight, sum);
      long notSampled = placed.getOrDefault(Stacks.NOT_SAMPLED, 0L);
      return placed.getOrDefault(A, 0L) / (double) (sum - notSampled) - ofA / (double) weight;
    }
  }
}
