package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.tree.Graph;
import flametop.profile.tree.Graphs;
import flametop.sampler.State;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A graph of a log in pieces as small as they can be. */
class GraphTest {
  private static final Shape REVERSED = Shape.of(new Shape.Reverse());

  private final World world = new World();
  private Graph<LogFold> graph;
  private int passes;
  private int stack;

  /** A task that ran for half a second, in a graph that shows this. */
  @BeforeEach
  void begin() {
    world.begin(1000, false);
    world.process(0, 100, "app");
    world.task(0, 0, 100, 900, false, "app");
    stack = world.named("main", "work");
    world.end();
    run();
    graph = new Graphs<>(world.store, Shape.PLAIN).graph();
    graph.shown().refresh(Long.MAX_VALUE);
  }

  /** Half a second on a CPU. */
  private void run() {
    for (int i = 0; i < 10; i++) {
      passes++;
      double time = 1000 + 50.0 * passes;
      world.batch(time, true, () -> world.changed(time, 0, stack, 50.0 * passes, 0, 0, State.RUN));
    }
  }

  private long total() {
    return graph.shown().tree().reader().total(StateSet.ALL);
  }

  /** As little work as there can be. */
  private boolean step() {
    return graph.slice(System.nanoTime() - 1);
  }

  @Test
  void baseline_releasedWhileTheNextFoldIsOnItsWayThere_leavesThePresent() {
    world.store.compare(graph.shown().holdBaseline());
    run();
    graph.shape(REVERSED);
    assertFalse(step());
    world.store.compare(null);
    graph.each(LogFold::move);
    graph.finish();
    assertEquals(REVERSED, graph.shown().tree().shape());
    assertFalse(graph.shown().trie.hasBaseline());
    assertEquals(world.reader().tree().total(StateSet.ALL), total());
  }

  @Test
  void shape_ofAGraphThatIsCompared_isComparedWithTheSameWindow() {
    long before = total();
    world.store.compare(graph.shown().holdBaseline());
    run();
    graph.shape(REVERSED);
    assertTrue(graph.isRefolding());
    while (graph.hasNext()) {
      step();
    }
    assertFalse(graph.isBehind());
    assertEquals(before, graph.shown().trie.held(0, StateSet.ALL.bits()));
    assertEquals(world.reader().tree().total(StateSet.ALL), total());
  }

  @Test
  void shape_takenBackBeforeItIsThere_leavesWhatIsShown() {
    LogFold shown = graph.shown();
    graph.shape(REVERSED);
    assertFalse(step());
    graph.shape(Shape.PLAIN);
    assertFalse(graph.hasNext());
    assertTrue(shown == graph.shown());
  }
}
