package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.Shape;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A live graph without the machinery of runtimes has the same time. */
final class FoldRuntimesLiveTest {
  private static final int JVM = 10;
  private static final int CODE = 11;

  private final World world = new World();
  private final LogFold folded = world.fold(Shape.of(new Shape.FoldRuntimes()));

  FoldRuntimesLiveTest() {
    world.intake.moduleSeen(JVM, ModuleKind.FILE, "/opt/jdk/lib/server/libjvm.so", "cd");
    world.intake.moduleSeen(CODE, ModuleKind.JIT, "[jit]", "");
    world.process(1, 100, "java");
    world.task(1, 1, 100, 0, true, "java");
  }

  @AfterEach
  void sumsAreWhole() {
    world.check();
    assertEquals(world.total(folded), world.total(world.fold()));
  }

  private void name(int frame, String text) {
    world.intake.name(frame, NameSource.SYMBOL, text);
  }

  @Test
  void fold_namesThatComeLater_timeGoesToTheMethodThatCalled() {
    world.intake.frameSeen(100, JVM, 0x10, false);
    world.intake.frameSeen(101, CODE, 0x20, false);
    world.intake.frameSeen(102, CODE, 0x30, false);
    world.intake.stackSeen(100, WalkEnd.ROOT, 4, new int[] {100, 101, 102, 100});
    world.batch(100, true, () -> world.changed(100, 1, 100, 20, 0, 1, State.SLEEP));
    world.batch(200, true, () -> {});
    world.batch(
        300,
        true,
        () -> {
          name(100, "JavaCalls::call");
          name(101, "StubRoutines (1)");
          name(102, "Shop.order");
        });
    assertEquals(Map.of("java;[not sampled]", 20L, "java;Shop.order", 280L), world.folded(folded));
    assertEquals(
        Map.of(
            "java;[not sampled]",
            20L,
            "java;JavaCalls::call;StubRoutines (1);Shop.order;JavaCalls::call",
            280L),
        world.folded(world.fold()));
  }

  @Test
  void fold_threadOfTheRuntimeItself_staysAsItIs() {
    world.intake.frameSeen(100, JVM, 0x10, false);
    world.intake.stackSeen(100, WalkEnd.ROOT, 1, new int[] {100});
    name(100, "GCTaskThread::run");
    world.batch(100, true, () -> world.changed(100, 1, 100, 20, 0, 1, State.SLEEP));
    world.batch(200, true, () -> {});
    assertEquals(world.folded(world.fold()), world.folded(folded));
    assertEquals(180L, world.folded(folded).get("java;GCTaskThread::run"));
  }
}
