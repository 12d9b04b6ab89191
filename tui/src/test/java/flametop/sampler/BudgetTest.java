package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.sampler.Budget.Kept;
import flametop.sampler.Budget.Pace;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Test;

final class BudgetTest {
  private static final long SECOND = 1_000_000_000L;
  private static final Pace START = new Pace(SECOND / 4, true, 19, 99);
  private static final Kept NOTHING = new Kept(false, false, false);

  /** Time and cost as they go on, and what was decided. */
  private static final class Run {
    final Budget budget;
    final List<Long> changes = new ArrayList<>();
    final List<Pace> paces = new ArrayList<>();
    private long time = 5_000 * SECOND;
    private long cost;

    Run(Budget budget) {
      this.budget = budget;
    }

    /** Each step of a quarter of a second costs what {@code load} says of a CPU at its pace. */
    Run go(int seconds, ToDoubleFunction<Pace> load) {
      for (int i = 0; i < 4 * seconds; i++) {
        time += SECOND / 4;
        cost += (long) (load.applyAsDouble(budget.now()) * SECOND / 4);
        if (budget.spent(time, cost)) {
          changes.add(time);
          paces.add(budget.now());
        }
      }
      return this;
    }
  }

  /** Parts that follow the pictures, the passes and the clock, and one that nothing lowers. */
  private static ToDoubleFunction<Pace> load(
      double picture, double pass, double clock, double fixed) {
    return pace ->
        picture * SECOND / pace.refreshNanos() * (pace.fine() ? 1 : 0.8)
            + pass * pace.passHz()
            + clock * pace.cpuHz()
            + fixed;
  }

  private static ToDoubleFunction<Pace> anyLoad(Random random) {
    return load(
        random.nextDouble() * 0.1,
        random.nextDouble() * 0.05,
        random.nextDouble() * 0.01,
        random.nextDouble() * 0.2);
  }

  private static Run run(double share, Kept kept) {
    return new Run(new Budget(share, START, kept));
  }

  @Test
  void spent_belowTheBudget_nothingIsLowered() {
    Run run = run(0.2, NOTHING).go(300, load(0.01, 0.001, 0.001, 0.01));
    assertEquals(List.of(), run.changes);
    assertEquals(START, run.budget.now());
    assertEquals("", run.budget.said());
  }

  @Test
  void spent_aboveTheBudget_thePictureYieldsFirstThenTheRates() {
    Run run = run(0.05, NOTHING).go(600, load(0.01, 0.02, 0.002, 0));
    List<Pace> paces = run.paces;
    assertEquals(new Pace(SECOND / 2, true, 19, 99), paces.get(0));
    assertEquals(new Pace(SECOND, true, 19, 99), paces.get(1));
    assertEquals(new Pace(2 * SECOND, true, 19, 99), paces.get(2));
    assertEquals(new Pace(2 * SECOND, false, 19, 99), paces.get(3));
    assertEquals(2 * SECOND, run.budget.now().refreshNanos());
    assertTrue(run.budget.now().passHz() < 19);
    assertTrue(run.budget.said().startsWith("budget 5%: picture 2 s, "), run.budget.said());
    assertTrue(run.budget.said().contains("passes 19→"), run.budget.said());
  }

  @Test
  void spent_costWhatever_neverBelowTheFloorsAndSaysThatItIsOver() {
    Run run = run(0.05, NOTHING).go(900, load(1, 1, 1, 1));
    assertEquals(
        new Pace(2 * SECOND, false, Budget.LEAST_PASS_HZ, Budget.LEAST_CPU_HZ), run.budget.now());
    assertTrue(run.budget.said().endsWith("over it, rates are lowest"), run.budget.said());
  }

  @Test
  void spent_loadIsOver_everythingIsRaisedAgain() {
    Run run = run(0.05, NOTHING).go(600, load(0.01, 0.02, 0.002, 0));
    assertTrue(run.budget.lowered());
    run.go(600, load(0.001, 0.0002, 0.00002, 0));
    assertEquals(START, run.budget.now());
    assertEquals("", run.budget.said());
  }

  @Test
  void spent_loadIsOverRightAfterAStep_isRaisedAgain() {
    ToDoubleFunction<Pace> base = load(0.002, 0.0002, 0.00002, 0.01);
    for (int seconds = 11; seconds < 100; seconds++) {
      Run run = run(0.1, NOTHING).go(seconds, load(0.01, 0.02, 0.002, 0));
      assertTrue(run.budget.lowered());
      run.go(300, base);
      assertEquals(START, run.budget.now(), "after " + seconds + " s");
    }
  }

  @Test
  void spent_ratesGiven_theyAreKeptAndItSaysThatItIsOver() {
    Run run = run(0.05, new Kept(true, true, true)).go(300, load(0, 1, 1, 0));
    assertEquals(List.of(), run.changes);
    assertEquals("budget 5%: over it, rates as given", run.budget.said());
    assertEquals(
        99, run(0.05, new Kept(false, false, true)).go(900, load(1, 1, 1, 0)).budget.now().cpuHz());
  }

  @Test
  void spent_clockOffOrBelowTheFloor_staysSo() {
    for (int cpuHz : new int[] {0, 7}) {
      Run run = new Run(new Budget(0.01, new Pace(SECOND, true, 2, cpuHz), NOTHING));
      assertEquals(cpuHz, run.go(600, load(1, 1, 1, 1)).budget.now().cpuHz());
    }
  }

  @Test
  void spent_noBudget_nothingHappens() {
    Run run = run(Double.POSITIVE_INFINITY, NOTHING).go(600, load(1, 1, 1, 1));
    assertEquals(List.of(), run.changes);
    assertEquals("", run.budget.said());
  }

  @Test
  void ask_whileLowered_isKeptAndTheRestBeginsAnew() {
    Run run = run(0.05, NOTHING).go(600, load(0.01, 0.02, 0.002, 0));
    Pace now = run.budget.now();
    run.budget.ask(new Pace(now.refreshNanos(), now.fine(), 49, now.cpuHz()));
    assertEquals(new Pace(SECOND / 4, true, 49, 99), run.budget.now());
    assertFalse(run.budget.lowered());
    run.go(600, load(0.01, 0.02, 0.002, 0));
    assertEquals(49, run.budget.now().passHz());
    assertEquals(19, run.budget.now().cpuHz());
  }

  @Test
  void spent_anyLoad_stepsAreTenSecondsApartAndRatesWithinTheirBounds() {
    Random random = new Random(7);
    for (int round = 0; round < 300; round++) {
      Pace start =
          new Pace(
              SECOND / (1 + random.nextInt(10)),
              true,
              1 + random.nextInt(200),
              random.nextBoolean() ? 0 : 19 + random.nextInt(480));
      Run run = new Run(new Budget(0.01 + random.nextDouble(), start, NOTHING));
      for (int i = 0; i < 10; i++) {
        double noise = random.nextDouble();
        ToDoubleFunction<Pace> load = anyLoad(random);
        run.go(random.nextInt(200), p -> load.applyAsDouble(p) * (1 + noise * random.nextDouble()));
      }
      for (int i = 0; i < run.changes.size(); i++) {
        Pace pace = run.paces.get(i);
        assertTrue(i == 0 || run.changes.get(i) - run.changes.get(i - 1) >= Budget.STEP_NANOS);
        assertTrue(pace.passHz() >= 1 && pace.passHz() <= start.passHz());
        assertTrue(pace.cpuHz() >= Math.min(19, start.cpuHz()) && pace.cpuHz() <= start.cpuHz());
        assertTrue(pace.refreshNanos() >= start.refreshNanos());
      }
    }
  }

  @Test
  void spent_steadyLoad_doesNotGoToAndFro() {
    Random random = new Random(11);
    for (int round = 0; round < 300; round++) {
      Run run = run(0.01 + random.nextDouble() * 0.5, NOTHING);
      run.go(3_600, anyLoad(random));
      for (int i = 1; i < run.paces.size(); i++) {
        assertTrue(
            run.paces.get(i).passHz() <= run.paces.get(i - 1).passHz()
                && run.paces.get(i).cpuHz() <= run.paces.get(i - 1).cpuHz()
                && run.paces.get(i).refreshNanos() >= run.paces.get(i - 1).refreshNanos(),
            run.paces::toString);
      }
    }
  }
}
