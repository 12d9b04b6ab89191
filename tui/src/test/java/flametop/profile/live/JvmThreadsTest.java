package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.profile.answer.RootOrder;
import flametop.profile.answer.Shape;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.State;
import flametop.sampler.WalkEnd;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Threads of a JVM are told apart by what they are for, and those of other programs never. */
final class JvmThreadsTest {
  private static final int STACK = 900;
  private static final List<String> COMMS =
      List.of("java", "GC Thread#0", "C2 CompilerThre", "VM Thread", "worker");

  private final World world = new World();

  @AfterEach
  void sumsAreWhole() {
    world.check();
  }

  /** A process with five threads, each of which sleeps for 200 ms in a stack of this library. */
  private void run(String library) {
    world.intake.moduleSeen(5, ModuleKind.FILE, library, "ef");
    world.intake.frameSeen(STACK, 5, 16, false);
    world.intake.stackSeen(STACK, WalkEnd.ROOT, 1, new int[] {STACK});
    world.intake.name(STACK, NameSource.SYMBOL, "thread_native_entry");
    world.process(1, 100, "java");
    for (int i = 0; i < COMMS.size(); i++) {
      world.task(i + 1, 1, 100 + i, 0, true, COMMS.get(i));
    }
    for (double time = 0; time <= 200; time += 100) {
      double now = time;
      world.batch(now, true, () -> all(now));
    }
  }

  private void all(double time) {
    for (int i = 0; i < COMMS.size(); i++) {
      world.changed(time, i + 1, STACK, 0, 0, 1, State.SLEEP);
    }
  }

  private Map<String, Long> folded(RootOrder order) {
    return world.folded(world.caughtUp(Shape.of(new Shape.Group(order))));
  }

  @Test
  void fold_threadsOfAJvm_standBelowTheirKind() {
    run("/usr/lib/jvm/lib/server/libjvm.so");
    Map<String, Long> expected = new HashMap<>();
    expected.put("java;thread_native_entry", 400L);
    for (String kind : new String[] {"GC", "JIT compiler", "VM"}) {
      expected.put("java;" + kind + ";thread_native_entry", 200L);
    }
    assertEquals(expected, folded(RootOrder.SERVICE));
    assertEquals(expected, folded(RootOrder.COMM));
    assertEquals(200, folded(RootOrder.THREAD).get("java-100;GC Thread#0-101;thread_native_entry"));
    assertEquals(Map.of("thread_native_entry", 1000L), folded(RootOrder.NONE));
  }

  @Test
  void fold_threadsOfAnotherProgramWithSuchNames_areItsOwn() {
    run("/usr/lib/libjvm.so.1");
    assertEquals(Map.of("java;thread_native_entry", 1000L), folded(RootOrder.SERVICE));
  }

  private int child(Trie trie, int node, String name) {
    int child = trie.firstChild(node);
    while (!world.stacks.name(trie.function(child)).equals(name)) {
      child = trie.sibling(child);
    }
    return child;
  }

  @Test
  void filter_ofAKind_admitsOnlyItsThreads() {
    run("/usr/lib/jvm/lib/server/libjvm.so (deleted)");
    Trie trie = world.fold().trie;
    int gc = child(trie, child(trie, 0, "java"), "GC");
    assertEquals(new Shape.Kinds(Set.of(ThreadKind.GC), false), trie.filter(gc));
    LogFold only = world.caughtUp(Shape.of(new Shape.Kinds(Set.of(ThreadKind.GC), false)));
    assertEquals(Map.of("java;GC;thread_native_entry", 200L), world.folded(only));
    Shape without = Shape.of(new Shape.Kinds(Set.of(ThreadKind.GC), true));
    world.caughtUp(without);
    assertEquals(4, world.owners.tasks().byState(without)[State.SLEEP.ordinal()]);
  }
}
