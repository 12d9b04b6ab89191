package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.array.IntColumn;
import flametop.profile.answer.NodeKind;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.WalkEnd;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The kind of a frame is that of its module, by the module's number in the stream. */
final class FrameKindsTest {
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
  void kind_frameOfAModule_isThatOfTheModule(int number, NodeKind expected) {
    Stacks stacks = new Stacks(new Names((frames, count) -> {}));
    stacks.moduleSeen(0, ModuleKind.of(number), "[x]", "");
    stacks.frameSeen(0, 0, 1L << 63 | 7, false);
    stacks.stackSeen(0, WalkEnd.ROOT, 1, new int[] {0}, 0);
    stacks.named(0, NameSource.SYMBOL, "json.loads");
    IntColumn path = new IntColumn();
    stacks.path(0, true, path, new IntColumn());
    assertEquals(1, path.size);
    assertEquals(expected, stacks.kind(path.items[0]));
    assertEquals("json.loads", stacks.name(path.items[0]));
  }
}
