package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import flametop.array.IntColumn;
import flametop.profile.answer.NodeKind;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What the functions of a stack are, and which of them is the program's own. */
final class StacksTest {
  private static final int MAIN = 0;
  private static final int WAITS = 1;
  private static final int SLEEP = 2;
  private static final int SCHEDULE = 3;

  private final Stacks stacks = new Stacks(new Names((frames, count) -> {}));

  private void frame(int frame, int module, String name) {
    stacks.frameSeen(frame, module, 1L << 63 | frame, false);
    stacks.named(frame, NameSource.SYMBOL, name);
  }

  private List<String> path(int stack) {
    IntColumn path = new IntColumn();
    stacks.path(stack, true, path, new IntColumn());
    List<String> names = new ArrayList<>();
    for (int i = 0; i < path.size; i++) {
      names.add(stacks.kind(path.items[i]) + " " + stacks.name(path.items[i]));
    }
    return names;
  }

  @ParameterizedTest
  @CsvSource({
    "0, KERNEL",
    "1, USER",
    "2, USER",
    "3, JIT",
    "4, UNKNOWN",
    "5, PYTHON",
    "6, PHP",
    "7, RUBY",
    "8, UNKNOWN",
    "255, UNKNOWN"
  })
  void path_frameOfAModule_hasItsKindByTheNumberInTheStream(int number, NodeKind expected) {
    stacks.moduleSeen(0, ModuleKind.of(number), "[x]", "");
    stacks.frameSeen(0, 0, 1L << 63 | 7, false);
    stacks.stackSeen(0, WalkEnd.ROOT, 1, new int[] {0}, 0);
    stacks.named(0, NameSource.SYMBOL, "json.loads");
    assertEquals(List.of(expected + " json.loads"), path(0));
  }

  private static Stream<WalkEnd> reasons() {
    return WalkEnd.all().stream().filter(end -> end != WalkEnd.ROOT);
  }

  /** Each reason why a stack is short stands where the missing part would be. */
  @ParameterizedTest
  @MethodSource("reasons")
  void path_shortStack_beginsWithItsReason(WalkEnd end) {
    stacks.moduleSeen(0, ModuleKind.FILE, "/usr/bin/app", "");
    stacks.frameSeen(0, 0, 0x10, false);
    stacks.stackSeen(0, end, 1, new int[] {0}, 0);
    stacks.named(0, NameSource.SYMBOL, "leaf");
    String reason = "REASON [" + end.reason() + "]";
    assertEquals(List.of(reason, "USER leaf"), path(0));
    assertEquals(List.of(reason), path(Stacks.missing(end)));
  }

  private void sleeper(int user, int... frames) {
    stacks.moduleSeen(0, ModuleKind.FILE, "/usr/bin/app", "");
    stacks.moduleSeen(1, ModuleKind.FILE, "/usr/lib/x86_64-linux-gnu/libc.so.6", "");
    stacks.moduleSeen(2, ModuleKind.KERNEL, "[kernel]", "");
    frame(MAIN, 0, "main");
    frame(WAITS, 0, "waits");
    frame(SLEEP, 1, "clock_nanosleep");
    frame(SCHEDULE, 2, "schedule");
    stacks.stackSeen(0, WalkEnd.ROOT, user, frames, 0);
  }

  private String own() {
    return Objects.requireNonNull(stacks.innermostOwn(stacks.slot(0))).name();
  }

  @Test
  void innermostOwn_asleepInTheCLibrary_isTheCaller() {
    sleeper(3, MAIN, WAITS, SLEEP, SCHEDULE);
    assertEquals("waits", own());
  }

  @Test
  void innermostOwn_nothingButTheCLibrary_isItsInnermost() {
    sleeper(1, SLEEP, SCHEDULE);
    assertEquals("clock_nanosleep", own());
  }

  @Test
  void innermostOwn_ofAKernelThread_isNone() {
    sleeper(0, SCHEDULE);
    assertNull(stacks.innermostOwn(stacks.slot(0)));
    assertEquals("schedule", Objects.requireNonNull(stacks.innermost(stacks.slot(0))).name());
  }
}
