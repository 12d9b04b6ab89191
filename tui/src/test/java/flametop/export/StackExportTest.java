package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.Measure;
import flametop.profile.answer.NodeKind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StackExportTest {
  @Test
  void of_microseconds_sumIsKept() {
    List<FoldedStack> stacks = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      stacks.add(Exports.stack(1_499, "c" + i, NodeKind.PROCESS));
    }
    StackExport export = StackExport.of(Exports.provenance("web-1"), Measure.TIME, stacks);
    assertEquals(1_499, export.total());
    assertEquals(1_499, Exports.stacks(export).stream().mapToLong(FoldedStack::value).sum());
  }

  @Test
  void of_belowOne_goesOn() {
    StackExport export =
        Exports.of(
            Measure.TIME,
            Exports.stack(400, "a", NodeKind.PROCESS),
            Exports.stack(700, "b", NodeKind.PROCESS));
    assertEquals(1, Exports.stacks(export).size());
    assertEquals("b", Exports.stacks(export).get(0).names()[0]);
    assertEquals(1, export.total());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void of_shares_addUpToTheirStack(long seed) {
    StackExport export = Exports.hostile(seed);
    long total = 0;
    for (FoldedStack stack : export.stacks()) {
      long shares = stack.shares().stream().mapToLong(FoldedStack.Share::value).sum();
      assertEquals(stack.value(), stack.shares().isEmpty() ? stack.value() : shares);
      assertTrue(stack.value() > 0);
      total += stack.value();
    }
    assertEquals(export.total(), total);
  }

  @Test
  void provenance_allOfIt_inWords() {
    assertEquals(
        List.of(
            "program: flametop 0.0.0",
            "host: web-1",
            "kernel: Linux 6.18.1 x86_64",
            "target: pid 12",
            "states: " + "run, queued, disk",
            "filter: comm <!-- & 9",
            "below: all > </script> > main 5",
            "window: 30.0 s, from 2023-11-14 22:13:20 UTC to 2023-11-14 22:13:50 UTC",
            "rates: 19 passes a second, 199 samples a second of each CPU;"
                + " at its end 19 passes a second, 99 samples a second of each CPU",
            "losses: 1 samples lost, 2 passes late, 3.1 % of stacks short,"
                + " 2.4 % of samples have a guessed frame ([guessed]), 7 samples with a name limit"),
        Exports.provenance("web-1").lines());
  }
}
