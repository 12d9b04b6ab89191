package flametop.profile.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.array.IntColumn;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.WalkEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each reason why a stack is short stands in its path, where the missing part would be. */
final class ReasonFramesTest {
  private final Stacks stacks = new Stacks(new Names((frames, count) -> {}));

  private List<String> path(int stack) {
    IntColumn path = new IntColumn();
    stacks.path(stack, true, path, new IntColumn());
    List<String> names = new ArrayList<>();
    for (int i = 0; i < path.size; i++) {
      names.add(stacks.kind(path.items[i]) + " " + stacks.name(path.items[i]));
    }
    return names;
  }

  private static Stream<WalkEnd> reasons() {
    return WalkEnd.all().stream().filter(end -> end != WalkEnd.ROOT);
  }

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
}
