package flametop.profile.format;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.NodeKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Samples in their order, and what becomes of them where memory ends. */
final class SampleLogTest {
  private static SampleLog filled(int mostNodes, int mostSamples) {
    SampleLog log = new SampleLog(true, mostNodes, mostSamples);
    SampleLog.Input input = log.new Input();
    input.type("time", Unit.whole("ns"), true);
    for (String name : List.of("a", "b", "c")) {
      input.frame(NodeKind.USER, name, "", Place.NONE, null);
    }
    input.stack(0, new int[] {0, 1}, 2, 5);
    input.stack(0, new int[] {0}, 1, 1);
    input.stack(0, new int[] {0, 1}, 2, 7);
    input.stack(0, new int[] {0, 2}, 2, 3);
    return log;
  }

  private static List<String> samples(SampleLog log) {
    List<String> samples = new ArrayList<>();
    log.each(
        (labels, frames, depth, values) -> {
          StringBuilder text = new StringBuilder();
          for (int i = 0; i < depth; i++) {
            text.append(log.frame(frames[i]).name());
          }
          samples.add(text + " " + values[0]);
        });
    return samples;
  }

  @Test
  void each_withRoom_hasTheOrder() {
    SampleLog log = filled(100, 100);
    assertEquals(List.of("ab 5", "a 1", "ab 7", "ac 3"), samples(log));
    assertFalse(log.lostOrder());
    assertTrue(log.isWhole());
  }

  @Test
  void each_withoutRoomForSamples_hasSums() {
    SampleLog log = filled(100, 2);
    List<String> samples = samples(log);
    samples.sort(null);
    assertEquals(List.of("a 1", "ab 12", "ac 3"), samples);
    assertTrue(log.lostOrder());
    assertTrue(log.isWhole());
    assertEquals(3, log.groups(first -> "all").get("all").length);
  }

  @Test
  void stack_withoutRoomForNodes_saysThatTheLogIsNotWhole() {
    SampleLog log = filled(3, 100);
    assertTrue(log.overflows());
    assertFalse(log.isWhole());
  }
}
