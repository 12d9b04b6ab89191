package flametop.profile.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.Shape;
import flametop.profile.answer.StateSet;
import flametop.profile.answer.TopQuery;
import flametop.profile.answer.TopReport;
import flametop.profile.live.World;
import flametop.sampler.State;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class TopTest {
  @Test
  void report_recursion_countsTheOutermostCall() {
    World world = new World(new Options(Shape.PLAIN, 1 << 20, true));
    world.begin(1000, true);
    world.process(0, 10, "app");
    world.task(0, 0, 10, 0, false, "t");
    world.changed(1000, 0, world.named("main", "a", "b", "a"), 5, 1, 7, State.SLEEP);
    world.end();
    world.batch(1100, true, () -> {});
    world.reader();
    TopReport report =
        world
            .fold()
            .tree()
            .top()
            .report(new TopQuery(StateSet.ALL, TopQuery.Order.TOTAL, 9, null, null), Noise.NONE);
    assertEquals(
        "a 100 100, b 0 100, main 0 100",
        report.rows().stream()
            .map(r -> r.function().name() + " " + r.self() / World.MS + " " + r.total() / World.MS)
            .collect(Collectors.joining(", ")));
  }
}
