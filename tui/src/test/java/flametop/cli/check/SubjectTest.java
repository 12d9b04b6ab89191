package flametop.cli.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import flametop.sampler.KernelSource.CheckLine;
import flametop.sampler.State;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SubjectTest {
  private static FoldedStack stack(State state, long samples, String... names) {
    NodeKind[] kinds =
        Arrays.stream(names)
            .map(name -> name.startsWith("[") ? NodeKind.REASON : NodeKind.USER)
            .toArray(NodeKind[]::new);
    String[] modules = new String[names.length];
    Arrays.fill(modules, "");
    return new FoldedStack(
        names,
        kinds,
        modules,
        samples,
        List.of(new FoldedStack.Share(1, "a", 1, "a", state, samples, samples)));
  }

  private static CheckLine onCpu(FoldedStack... stacks) {
    return Subject.stacks(List.of(stacks), "stacks on a CPU", State.RUN, "flametop_subject_turns");
  }

  private static FoldedStack right(long samples) {
    return stack(
        State.RUN, samples, "helper", "main", "flametop_subject", "flametop_subject_turns", "now");
  }

  @Test
  void stacks_wholeWithTheFunctions_ok() {
    CheckLine line = onCpu(right(90), stack(State.RUN, 10, "helper", "main"));
    assertTrue(line.ok() && line.needed(), line.detail());
    assertTrue(line.detail().startsWith("90 of 100 samples"), line.detail());
  }

  @Test
  void stacks_otherState_notCounted() {
    CheckLine line = onCpu(right(5), stack(State.SLEEP, 500, "helper", "main"));
    assertTrue(line.ok(), line.detail());
    assertTrue(line.detail().startsWith("5 of 5 samples"), line.detail());
  }

  @Test
  void stacks_shortOnes_notOkAndTheReasonIsShown() {
    CheckLine line =
        onCpu(
            right(50),
            stack(
                State.RUN,
                50,
                "helper",
                "[truncated]",
                "flametop_subject",
                "flametop_subject_turns"));
    assertFalse(line.ok());
    assertTrue(line.needed());
    assertTrue(line.detail().contains("[truncated]"), line.detail());
    assertFalse(line.remedy().isEmpty());
  }

  @Test
  void stacks_anotherCaller_notOk() {
    FoldedStack skipped =
        stack(State.RUN, 50, "helper", "flametop_subject", "lost", "flametop_subject_turns");
    assertFalse(onCpu(skipped).ok());
  }

  @Test
  void stacks_fewOrNone_notOk() {
    assertFalse(onCpu(right(4)).ok());
    CheckLine none = onCpu();
    assertFalse(none.ok());
    assertEquals(
        "0 of 0 samples are whole, with flametop_subject > flametop_subject_turns", none.detail());
  }

  @Test
  void probed_functionOfTheKernel_needsNoCaller() {
    Subject.Probe graph = new Subject.Probe("function graph", "graph:f", List.of("f"));
    CheckLine line = Subject.probed(graph, List.of(stack(State.RUN, 1, "helper", "f", "g")));
    assertTrue(line.ok(), line.detail());
    assertEquals("graph:f: 1 of 1 stacks with f", line.detail());
  }

  @Test
  void probed_withoutHitsOrWithAnotherCaller_notOk() {
    Subject.Probe uprobe = new Subject.Probe("uprobe", "uprobe:a:f", List.of("main", "f"));
    assertFalse(Subject.probed(uprobe, List.of()).ok());
    assertFalse(Subject.probed(uprobe, List.of(stack(State.RUN, 1, "helper", "f"))).ok());
    assertTrue(Subject.probed(uprobe, List.of(stack(State.RUN, 1, "main", "f"))).ok());
    assertFalse(Subject.probed(uprobe, List.of()).needed());
  }
}
