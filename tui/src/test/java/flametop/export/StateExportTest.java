package flametop.export;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.FoldedStack;
import flametop.profile.answer.NodeKind;
import flametop.profile.answer.StateSet;
import flametop.sampler.State;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Profiles for stores; what reads them in earnest is in e2e/stores. */
class StateExportTest {
  private static FoldedStack stack(FoldedStack.Share... shares) {
    return Exports.shared(
        Exports.stack(
            0,
            "system.slice",
            NodeKind.CGROUP,
            "web.service",
            NodeKind.CGROUP,
            "java Shop",
            NodeKind.PROCESS,
            "main",
            NodeKind.USER,
            "inlined",
            NodeKind.INLINED),
        shares);
  }

  private static FoldedStack.Share share(State state, long value) {
    return new FoldedStack.Share(7, "java", 0, "", state, value, 1);
  }

  private static StateExport export(StateSet states, FoldedStack... stacks) {
    return new StateExport(Exports.provenance("web-1"), List.of(stacks), states);
  }

  @Test
  void totals_shares_byColumn() {
    StateExport export =
        export(
            StateSet.ALL,
            stack(share(State.RUN, 5), share(State.ZOMBIE, 3)),
            stack(share(State.RUN, 6), share(State.DISK, 2), share(State.PARKED, 1)));
    assertArrayEquals(new long[] {4, 0, 2, 0, 11}, export.totals());
  }

  @Test
  void of_everyState_aColumnThatAllStatesHave() {
    List<StateExport.Column> all = export(StateSet.ALL).columns();
    for (int number = 0; number < 256; number++) {
      State state = State.of(number);
      assertTrue(all.contains(StateExport.Column.of(state)), state.label());
    }
    assertEquals(StateExport.Column.OTHER, StateExport.Column.of(State.of(200)));
    assertEquals(List.of(StateExport.Column.ON_CPU), export(StateSet.ON_CPU).columns());
  }

  @Test
  void cgroup_outermostFrames_pathAndNoFrames() {
    FoldedStack stack = stack(share(State.RUN, 5));
    assertEquals("/system.slice/web.service", StateExport.cgroup(stack));
    assertEquals("java Shop", StateExport.process(stack));
    assertEquals(2, StateExport.groups(stack));
    FoldedStack root = Exports.stack(1, "/", NodeKind.CGROUP, "sh", NodeKind.PROCESS);
    assertEquals("/", StateExport.cgroup(root));
    FoldedStack unknown = Exports.stack(1, "[no cgroup]", NodeKind.CGROUP, "f", NodeKind.USER);
    assertEquals("[no cgroup]", StateExport.cgroup(unknown));
    assertEquals("", StateExport.process(unknown));
    assertEquals("", StateExport.cgroup(Exports.stack(1, "f", NodeKind.USER)));
  }

  @Test
  void pprof_busyStates_theirColumnsAndLabels() throws Exception {
    byte[] gzip = export(StateSet.BUSY, stack(share(State.RUN, 5))).pprof();
    String text =
        new String(
            new GZIPInputStream(new ByteArrayInputStream(gzip)).readAllBytes(),
            StandardCharsets.ISO_8859_1);
    for (String word :
        List.of(
            "on_cpu",
            "runnable",
            "disk_sleep",
            "nanoseconds",
            "cgroup",
            "/system.slice/web.service",
            "java Shop",
            "comm",
            "web-1")) {
      assertTrue(text.contains(word), word);
    }
    assertTrue(!text.contains("sleeping"), text);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void otlp_hostileNames_readableToTheEnd(long seed) {
    StateExport export =
        new StateExport(Exports.provenance("web-1"), Exports.hostile(seed).stacks(), StateSet.ALL);
    byte[] request =
        export.otlp(Map.of("service.name", "a"), new byte[16 * StateExport.Column.values().length]);
    assertTrue(request.length > 1_000);
  }
}
