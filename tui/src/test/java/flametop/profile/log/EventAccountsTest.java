package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.sampler.SourceTotals;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

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
    settle(400, 250);
    assertEquals((100 * 100 + 300 * 300) / 407.0, accounts.stackWeight(), 3);
    accounts.restart();
    assertEquals(0, accounts.stackWeight());
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
    settle(1_000, 250);
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
  void restart_whatWaited_countsNoMore() {
    accounts.event(TASK, A, 2, 0);
    settle(10, 250);
    accounts.event(TASK, B, 2, 0);
    accounts.restart();
    log.clear(time);
    settle(0, 3_000);
    assertEquals(Map.of(), placed());
  }

  /** Light and heavy events, of which the kernel draws by exponential distances of weight. */
  @Test
  void settle_lightAndHeavyEvents_sharesAreUnbiased() {
    Random random = new Random(7);
    long rate = 1_000;
    double left = rate * random.nextExponential();
    long ofA = 0;
    for (int second = 0; second < 200; second++) {
      long weight = 0;
      for (int i = 0; i < 400; i++) {
        int stack = random.nextInt(100) < 97 ? A : B;
        long of = stack == A ? 10 : 3_000;
        weight += of;
        ofA += stack == A ? of : 0;
        left -= of;
        if (left < 0) {
          accounts.event(TASK, stack, of, rate);
          left = rate * random.nextExponential();
        }
      }
      settle(weight, 1_000);
    }
    Map<Integer, Long> placed = placed();
    assertEquals(accounts.totals().weight(), placed.values().stream().mapToLong(w -> w).sum());
    assertEquals(1, (double) placed.get(A) / ofA, 0.05);
  }
}
