package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.Options;
import flametop.sampler.WalkEnd;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Histories made at random, of which parts are summed up, forgotten, or have no room. */
class RandomForgettingTest extends RandomHistoryFixture {
  @ParameterizedTest
  @ValueSource(longs = {21, 22})
  void log_compacted_keepsTheSums(long seed) {
    World bounded = new World(Shape.PLAIN, 600_000);
    World whole = new World(Shape.PLAIN, 64 << 20);
    Simulation a = new Simulation(bounded, seed);
    Simulation b = new Simulation(whole, seed);
    Shape[] shapes = {
      Shape.of(new Shape.Cpus(Set.of(1), false)), Shape.of(new Shape.Group(RootOrder.CPU))
    };
    for (Shape shape : shapes) {
      bounded.fold(shape);
    }
    for (int step = 0; step < 600; step++) {
      a.step();
      b.step();
      for (LogFold fold : bounded.folds) {
        fold.window(5_000 * MS, Long.MAX_VALUE);
      }
    }
    // What has forgotten its CPU has left the folds that it was in by it.
    for (int i = 0; i < shapes.length; i++) {
      LogFold anew = bounded.caughtUp(shapes[i]);
      LogFold old = bounded.folds.get(i + 1);
      for (long window : new long[] {Long.MAX_VALUE, 3_000 * MS, 30_000 * MS}) {
        boolean same = bounded.folded(anew, window).equals(bounded.folded(old, window));
        assertTrue(same, shapes[i] + " in " + window);
      }
    }
    bounded.check();
    assertTrue(bounded.log.compactedTo() > bounded.log.startTime());
    assertEquals(whole.folded(StateSet.ALL), bounded.folded(StateSet.ALL));
    LogFold anew = bounded.caughtUp(Shape.PLAIN);
    assertEquals(whole.folded(StateSet.ALL), bounded.folded(anew));
    assertEquals(whole.samples(whole.fold()), bounded.samples(anew));
    assertEquals(bounded.folded(bounded.fold(), 3_000 * MS), bounded.folded(anew, 3_000 * MS));
    bounded.check();
  }

  @ParameterizedTest
  @ValueSource(longs = {31})
  void log_outOfMemory_staysWithinItAndKeepsTheTotals(long seed) {
    Shape shape = Shape.of(new Shape.Group(RootOrder.THREAD));
    World bounded = new World(shape, 30_000);
    World whole = new World(shape, 64 << 20);
    Simulation a = new Simulation(bounded, seed);
    Simulation b = new Simulation(whole, seed);
    for (int step = 0; step < 2000; step++) {
      a.step();
      b.step();
      assertTrue(bounded.log.bytes() < 45_000, "bytes=" + bounded.log.bytes());
    }
    LogFold anew = bounded.caughtUp(shape);
    for (int state = 0; state < STATES; state++) {
      int bits = 1 << state;
      assertEquals(whole.fold().trie.weight(0, bits), anew.trie.weight(0, bits));
    }
    anew.window(2_000 * MS, Long.MAX_VALUE);
    assertTrue(anew.covered() > 0);
    bounded.check();
  }

  private static final RootOrder[] ORDERS = {
    RootOrder.NONE, RootOrder.SERVICE, RootOrder.PROCESS, RootOrder.THREAD
  };

  /** The same history twice: with ids that are forgotten and given anew, and without. */
  @ParameterizedTest
  @ValueSource(longs = {41, 42, 43, 44})
  void forgotten_anyIds_changesNothing(long seed) {
    Options options =
        new Options(
            Shape.of(new Shape.Group(ORDERS[(int) (seed % ORDERS.length)])),
            64 << 20,
            seed % 2 == 0);
    World forgetting = new World(options);
    World whole = new World(options);
    Simulation a = new Simulation(forgetting, seed, true, new Random(seed));
    Simulation b = new Simulation(whole, seed, true, null);
    for (int step = 0; step < 400; step++) {
      a.step();
      b.step();
      if (step % 3 == 0) {
        forgetting.sweep();
      }
      if (step % 40 == 39) {
        forgetting.check();
        LogFold anew = forgetting.caughtUp(options.shape());
        for (boolean samples : new boolean[] {false, true}) {
          Map<String, Long> expected =
              whole.folded(whole.fold(), Long.MAX_VALUE, StateSet.ALL, samples);
          for (LogFold fold : List.of(forgetting.fold(), anew)) {
            assertEquals(expected, forgetting.folded(fold, Long.MAX_VALUE, StateSet.ALL, samples));
          }
          assertEquals(
              forgetting.folded(anew, 3_000 * MS, StateSet.ALL, samples),
              forgetting.folded(forgetting.fold(), 3_000 * MS, StateSet.ALL, samples));
        }
        forgetting.drop(anew);
      }
    }
    // What is in the log is kept: 40 stacks, whatever became of their ids, are told apart by them.
    int reasons = WalkEnd.all().size();
    assertTrue(forgetting.stacks.made() > 3L * (forgetting.stacks.functions() - reasons));
  }

  /** The oldest history becomes a sum of few entries: what it does not tell apart is not lost. */
  @ParameterizedTest
  @ValueSource(longs = {51, 52, 53, 54})
  void forgotten_outOfMemory_keepsTotalsAndTables(long seed) {
    Shape shape = Shape.of(new Shape.Group(RootOrder.values()[(int) (seed % 4)]));
    World forgetting = new World(shape, 30_000);
    World whole = new World(shape, 64 << 20);
    Simulation a = new Simulation(forgetting, seed, true, new Random(seed));
    Simulation b = new Simulation(whole, seed, true, null);
    for (int step = 0; step < 1_200; step++) {
      a.step();
      b.step();
      if (step % 30 == 0) {
        forgetting.sweep();
        forgetting.check();
        checkTotals(whole.fold(), forgetting.fold(), a.countsDisk);
        LogFold anew = forgetting.caughtUp(shape);
        checkTotals(whole.fold(), anew, a.countsDisk);
        // A trie that has seen it all shows what a new one does, in any window.
        long window = step % 60 == 0 ? Long.MAX_VALUE : 2_000 * MS;
        assertEquals(forgetting.folded(anew, window), forgetting.folded(forgetting.fold(), window));
        forgetting.drop(anew);
      }
      assertTrue(forgetting.log.bytes() < 45_000, "bytes=" + forgetting.log.bytes());
    }
    assertTrue(forgetting.log.compactedTo() > forgetting.log.startTime());
  }

  private static void checkTotals(LogFold expected, LogFold actual, boolean countsDisk) {
    actual.window(Long.MAX_VALUE, Long.MAX_VALUE);
    int off = StateSet.BLOCKED.bits();
    for (int states : new int[] {1, 2, off, EVERY_STATE}) {
      assertEquals(
          expected.trie.weight(0, states), actual.trie.weight(0, states), "states=" + states);
    }
    // Samples part time off the CPU by pools, and what is old has one for all; what is counted is
    // rounded.
    for (int state = 0; countsDisk && state < STATES; state++) {
      assertEquals(
          (double) expected.trie.weight(0, 1 << state),
          (double) actual.trie.weight(0, 1 << state),
          NEAR,
          "state=" + state);
    }
  }
}
