package flametop.profile.live;

import static org.junit.jupiter.api.Assertions.assertEquals;

import flametop.profile.answer.QualityReport;
import flametop.profile.log.Names;
import flametop.profile.log.Stacks;
import flametop.sampler.Counter;
import flametop.sampler.ModuleKind;
import flametop.sampler.NameSource;
import flametop.sampler.OwnPart;
import flametop.sampler.WalkEnd;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

final class QualityTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long TEN = 10 * SECOND;
  private static final long ALL = Long.MAX_VALUE;

  private final Stacks stacks = new Stacks(new Names((frames, count) -> {}));
  private final Quality quality = new Quality(stacks);

  QualityTest() {
    stacks.moduleSeen(0, ModuleKind.KERNEL, "[kernel]", "");
    stacks.moduleSeen(1, ModuleKind.FILE, "/usr/bin/app", "");
    stacks.moduleSeen(2, ModuleKind.FILE, "/usr/lib/libx.so", "");
    for (int module = 0; module < 3; module++) {
      stacks.frameSeen(module, module, 0x10, false);
    }
    stacks.frameSeen(3, 2, 0x20, true);
    quality.processSeen(0, 812, 1, "app");
    quality.processSeen(1, 900, 2, "worker");
    pass(100);
  }

  /** A pass at a second. */
  private void pass(double second) {
    quality.batchBegins((long) (second * SECOND), true);
  }

  private void stack(int stack, WalkEnd end, int user, int... frames) {
    stacks.stackSeen(stack, end, user, frames, 0);
  }

  private static String text(List<QualityReport.Row> rows) {
    return rows.stream()
        .map(
            row -> {
              StringBuilder text = new StringBuilder(row.name());
              text.append(' ').append(row.counts().samples()).append(':');
              for (WalkEnd end : WalkEnd.values()) {
                long n = row.counts().of(end);
                text.append(n == 0 ? "" : " " + end + "=" + n);
              }
              long guessed = row.counts().guessed();
              long limited = row.counts().nameLimited();
              return text
                  + (guessed == 0 ? "" : " guessed=" + guessed)
                  + (limited == 0 ? "" : " limited=" + limited);
            })
        .collect(Collectors.joining("; "));
  }

  @Test
  void sample_anyEnd_countsForItsProcessAndTheModuleWhereTheWalkEnded() {
    int stack = 0;
    for (WalkEnd end : WalkEnd.values()) {
      stack(stack, end, 2, 2, 1, 0);
      quality.sample(0, stack++, end);
    }
    QualityReport report = quality.report(ALL);
    String reasons =
        " truncated=1 other stack=1 no unwind info=1 jit without frame pointers=1 mm busy=1 torn=1"
            + " faulted=1 exited=1 limit=1 file not readable=1 32-bit code=1 not in memory=1 other=1";
    assertEquals("app 14: root=1" + reasons, text(report.processes()));
    assertEquals(
        "libx.so 14: root=1" + reasons + "; app 14: root=14; [kernel] 14: root=14",
        text(report.modules()));
    assertEquals(14, report.window().counts().samples());
  }

  @Test
  void sample_withoutAStack_countsUnlessNoneWasDue() {
    quality.sample(1, -1, WalkEnd.EXITED);
    quality.sample(1, -1, WalkEnd.ROOT);
    QualityReport report = quality.report(TEN);
    assertEquals("worker 1: exited=1", text(report.processes()));
    assertEquals("(no user frame) 1: exited=1", text(report.modules()));
  }

  @Test
  void sample_withAGuessedFrame_isGuessedInItsModuleOnly() {
    stack(0, WalkEnd.ROOT, 3, 1, 3, 2);
    quality.sample(0, 0, WalkEnd.ROOT);
    QualityReport report = quality.report(TEN);
    assertEquals("app 1: root=1 guessed=1", text(report.processes()));
    assertEquals("app 1: root=1; libx.so 1: root=1 guessed=1", text(report.modules()));
  }

  private void name(int frame, NameSource source) {
    stacks.named(frame, source, "name");
    quality.nameCame();
    quality.batchEnds();
  }

  @Test
  void sample_frameOverTheLimitOfNames_isLimitedInItsProcessAndModuleOnly() {
    name(1, NameSource.SYMBOL);
    name(2, NameSource.LIMIT);
    name(3, NameSource.LIMIT);
    stack(0, WalkEnd.ROOT, 3, 1, 2, 3);
    stack(1, WalkEnd.ROOT, 1, 1);
    quality.sample(0, 0, WalkEnd.ROOT);
    quality.sample(0, 1, WalkEnd.ROOT);
    quality.sample(1, 1, WalkEnd.ROOT);
    QualityReport report = quality.report(TEN);
    assertEquals("app 2: root=2 guessed=1 limited=1; worker 1: root=1", text(report.processes()));
    assertEquals("app 3: root=3; libx.so 1: root=1 guessed=1 limited=1", text(report.modules()));
    assertEquals(1, report.window().counts().nameLimited());
    assertEquals(1, quality.nameLimited());
  }

  @Test
  void sample_namesThatComeLater_areLimitedOnceAllAreThere() {
    stack(0, WalkEnd.ROOT, 2, 1, 2);
    quality.sample(0, 0, WalkEnd.ROOT);
    quality.sample(1, 0, WalkEnd.ROOT);
    name(2, NameSource.LIMIT);
    assertEquals("app 1: root=1; worker 1: root=1", text(quality.report(TEN).processes()));
    name(1, NameSource.SYMBOL);
    String limited = "app 1: root=1 limited=1; worker 1: root=1 limited=1";
    assertEquals(limited, text(quality.report(TEN).processes()));
    name(1, NameSource.SYMBOL);
    assertEquals(limited, text(quality.report(TEN).processes()), "counted once");
  }

  @Test
  void sample_frameThatIsNamedAfterAll_isLimitedNoMore() {
    name(2, NameSource.LIMIT);
    stack(0, WalkEnd.ROOT, 1, 2);
    quality.sample(0, 0, WalkEnd.ROOT);
    name(2, NameSource.SYMBOL);
    quality.sample(0, 0, WalkEnd.ROOT);
    assertEquals("app 2: root=2 limited=1", text(quality.report(TEN).processes()));
  }

  @Test
  void keep_stackThatIsGone_isCountedForNobody() {
    stack(0, WalkEnd.ROOT, 1, 2);
    quality.sample(0, 0, WalkEnd.ROOT);
    quality.keep(new BitSet());
    name(2, NameSource.LIMIT);
    assertEquals("app 1: root=1", text(quality.report(TEN).processes()));
  }

  @Test
  void sample_manyProcessesWhileNamesAreAwaited_noneIsLimitedForAnother() {
    stack(0, WalkEnd.ROOT, 1, 2);
    stack(1, WalkEnd.ROOT, 1, 1);
    name(1, NameSource.SYMBOL);
    for (int i = 0; i < 20_000; i++) {
      pass(100 + i);
      quality.processSeen(i % 10, 1_000 + i, i, "p" + i);
      quality.sample(i % 10, i % 2, WalkEnd.ROOT);
    }
    name(2, NameSource.LIMIT);
    QualityReport report = quality.report(ALL);
    assertEquals(10_000, report.window().counts().nameLimited());
    for (QualityReport.Row row : report.processes().subList(1, report.processes().size())) {
      long even = 1L - row.pid() % 2;
      assertEquals(even, row.counts().nameLimited(), row.name());
    }
  }

  @Test
  void report_window_leavesOutWhatIsOlder() {
    stack(0, WalkEnd.ROOT, 1, 1);
    quality.sample(0, 0, WalkEnd.ROOT);
    pass(120);
    quality.sample(1, 0, WalkEnd.ROOT);
    QualityReport report = quality.report(TEN);
    assertEquals("worker 1: root=1", text(report.processes()));
    assertEquals(1, report.window().counts().samples());
    assertEquals(2, report.all().counts().samples());
    assertEquals("app 1: root=1; worker 1: root=1", text(quality.report(ALL).processes()));
    pass(1_000);
    assertEquals("", text(quality.report(300 * SECOND).processes()));
    assertEquals(2, quality.report(ALL).window().counts().samples());
  }

  @Test
  void report_passes_areDueMadeLateWithTheWorstGap() {
    long[] totals = new long[Counter.values().length];
    totals[Counter.PASSES_DUE.ordinal()] = 10;
    totals[Counter.PASSES_MADE.ordinal()] = 8;
    totals[Counter.PASSES_LATE.ordinal()] = 2;
    totals[Counter.CPU_DROPPED.ordinal()] = 3;
    quality.counters(totals);
    pass(100.5);
    pass(100.6);
    pass(150);
    pass(150.25);
    QualityReport report = quality.report(TEN);
    assertEquals(10, report.all().due());
    assertEquals(8, report.all().made());
    assertEquals(2, report.all().late());
    assertEquals(3, report.all().lostSamples());
    assertEquals(49_400_000_000L, report.all().worstGapNanos());
    assertEquals(0, report.window().due());
    assertEquals(49_400_000_000L, report.window().worstGapNanos());
    pass(170);
    pass(170.5);
    pass(180);
    pass(180.5);
    pass(190.5);
    assertEquals(10_000_000_000L, quality.report(TEN).window().worstGapNanos());
  }

  @Test
  void report_cost_isWhatGrewOverTheLastSeconds() {
    quality.ownUsage(List.of(new OwnPart("passes", SECOND)), List.of());
    assertEquals(List.of(), quality.report(TEN).parts());
    quality.streamed(4_000);
    pass(102);
    quality.ownUsage(
        List.of(new OwnPart("passes", SECOND + SECOND / 2), new OwnPart("new", SECOND)),
        List.of(new OwnPart("flametop", 5)));
    QualityReport report = quality.report(TEN);
    assertEquals(
        List.of(new QualityReport.Part("passes", 0.25), new QualityReport.Part("new", 0.5)),
        report.parts());
    assertEquals(List.of(new OwnPart("flametop", 5)), report.resident());
    assertEquals(2_000, report.streamPerSecond());
  }

  @Test
  void held_whileItGoesOn_staysAsItWas() {
    stack(0, WalkEnd.ROOT, 1, 1);
    quality.sample(0, 0, WalkEnd.ROOT);
    Quality held = quality.held();
    quality.sample(0, 0, WalkEnd.ROOT);
    pass(500);
    assertEquals("app 1: root=1", text(held.report(TEN).processes()));
    assertEquals(1, held.report(ALL).all().counts().samples());
  }

  @Test
  void sample_idThatIsAnotherProcessNow_hasARowOfItsOwn() {
    stack(0, WalkEnd.ROOT, 1, 1);
    quality.sample(0, 0, WalkEnd.ROOT);
    quality.processSeen(0, 813, 7, "next");
    quality.sample(0, 0, WalkEnd.ROOT);
    assertEquals("app 1: root=1; next 1: root=1", text(quality.report(TEN).processes()));
  }

  @Test
  void sample_manyProcessesThatAreGone_areSummedUpAndNoneIsLost() {
    stack(0, WalkEnd.ROOT, 1, 1);
    for (int i = 0; i < 30_000; i++) {
      pass(100 + i);
      quality.processSeen(i % 10, 1_000 + i, i, "p" + i);
      quality.sample(i % 10, 0, WalkEnd.ROOT);
    }
    QualityReport report = quality.report(ALL);
    assertEquals(30_000, report.all().counts().samples());
    assertEquals(true, report.processes().size() < 10_000);
    assertEquals("(others)", report.processes().get(0).name());
    assertEquals("p29999 1: root=1", text(quality.report(1).processes().subList(9, 10)));
  }

  @Test
  void sample_manyProcessesWithinAMoment_rowsAreBoundedAndNoneIsLost() {
    stack(0, WalkEnd.ROOT, 1, 1);
    pass(100);
    for (int i = 0; i < 30_000; i++) {
      quality.processSeen(i % 10, 1_000 + i, i, "p" + i);
      quality.sample(i % 10, 0, WalkEnd.ROOT);
    }
    QualityReport report = quality.report(TEN);
    assertEquals(30_000, report.all().counts().samples());
    assertEquals(true, report.processes().size() < 10_000);
    assertEquals("(others)", report.processes().get(0).name());
  }
}
