package flametop.export;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.StateSet;
import flametop.sampler.Heads;
import flametop.sampler.IdSpace;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.State;
import flametop.sampler.StreamFacts;
import flametop.sampler.WalkEnd;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows of tasks, as they come of a stream. */
class XstackWriterTest {
  private static final long PASS = 50_000_000;

  private final StringWriter out = new StringWriter();
  private final StreamFacts facts =
      StreamFacts.parse("time.monotonic=1000000000\ntime.wall=1700000001000000000\n");

  private XstackWriter writer(StateSet states, boolean header, boolean reversed) {
    XstackWriter writer = new XstackWriter(out, facts, states, header, reversed);
    writer.batchBegins(PASS, 0, true, false);
    writer.processSeen(1, 70, 0, 0, 0, 0, false, "app", "");
    writer.taskSeen(2, 1, 71, 0, false, "a|b");
    writer.moduleSeen(3, ModuleKind.FILE, "/usr/bin/app", "");
    writer.frameSeen(4, 3, 0x10, false);
    writer.frameSeen(5, 3, 0x20, false);
    writer.frameSeen(6, 3, 0x30, false);
    writer.stackSeen(7, WalkEnd.TRUNCATED, 2, new int[] {4, 5, 6});
    writer.taskChanged(Heads.of(PASS, 2, 7, 0, 0, 0, 0, State.SLEEP));
    return writer;
  }

  private List<String> lines() {
    return out.toString().lines().toList();
  }

  @Test
  void rows_waitForNamesAndKeepTheirOrder() {
    XstackWriter writer = writer(StateSet.ALL, true, false);
    writer.batchEnds();
    assertEquals(List.of("timestamp|tid|tgid|comm|state|ustack|kstack"), lines());
    writer.batchBegins(2 * PASS, 1, true, false);
    writer.name(4, NameSource.SYMBOL, "main");
    writer.name(5, NameSource.SYMBOL, "f;g|h");
    writer.name(6, NameSource.SYMBOL, "do_sleep");
    // What is forgotten stays in the rows that have it.
    writer.forgotten(IdSpace.FRAME, new int[] {4});
    writer.taskChanged(Heads.of(2 * PASS, 2, -1, 0, 0, 0, 0, State.QUEUED));
    writer.batchEnds();
    writer.taskGone(2, 0, 0, 0, true);
    writer.batchBegins(3 * PASS, 2, true, false);
    writer.batchEnds();
    writer.end();
    assertEquals(
        List.of(
            "timestamp|tid|tgid|comm|state|ustack|kstack",
            "2023-11-14T22:13:20.050000|71|70|a:b|S|[truncated];main;f:g:h|do_sleep",
            "2023-11-14T22:13:20.100000|71|70|a:b|R|-|-"),
        lines());
    assertEquals(2, writer.rows());
  }

  @Test
  void rows_withoutNames_comeAfterAWhileAsAddresses() {
    XstackWriter writer = writer(StateSet.ALL, false, true);
    writer.batchEnds();
    for (int pass = 2; pass < 60; pass++) {
      writer.batchBegins(pass * PASS, pass, true, false);
      writer.batchEnds();
    }
    assertEquals(
        "2023-11-14T22:13:20.050000|71|70|a:b|S|app+0x20;app+0x10;[truncated]|app+0x30",
        lines().get(0));
    writer.end();
    assertEquals(59, lines().size());
  }

  @Test
  void rows_ofOtherStatesAndOfBatchesBetweenPasses_areNone() {
    XstackWriter writer = writer(StateSet.BUSY, false, false);
    writer.batchEnds();
    writer.batchBegins(2 * PASS, 1, false, false);
    writer.taskChanged(Heads.of(2 * PASS, 2, 7, 0, 0, 0, 0, State.RUN));
    writer.batchEnds();
    writer.end();
    assertEquals(List.of(), lines());
  }
}
