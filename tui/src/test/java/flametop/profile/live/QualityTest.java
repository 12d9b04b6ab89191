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
import java.util.Arrays;
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
        .map(row -> row.name() + " " + text(row.counts()))
        .collect(Collectors.joining("; "));
  }

  private static String text(QualityReport.Counts counts) {
    return counts.samples()
        + ":"
        + Arrays.stream(WalkEnd.values())
            .map(end -> part(end.toString(), counts.of(end)))
            .collect(Collectors.joining())
        + part("guessed", counts.guessed())
        + part("limited", counts.nameLimited())
        + part("named", counts.named())
        + part("language", counts.inLanguage());
  }

  private static String part(String what, long count) {
    return count == 0 ? "" : " " + what + "=" + count;
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
    sampleOf(0, 0, WalkEnd.ROOT, 3, 1, 3, 2);
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
  void sample_frameWithoutASymbol_isNotNamedUntilASymbolComes() {
    name(1, NameSource.SYMBOL);
    name(2, NameSource.FUNCTION_START);
    name(3, NameSource.UNKNOWN);
    stack(0, WalkEnd.ROOT, 1, 1);
    stack(1, WalkEnd.ROOT, 2, 1, 2);
    stack(2, WalkEnd.ROOT, 2, 1, 3);
    for (int stack = 0; stack < 3; stack++) {
      quality.sample(0, stack, WalkEnd.ROOT);
    }
    assertEquals("native 3: root=3 guessed=1 named=1", text(quality.report(TEN).runtimes()));
    name(2, NameSource.SYMBOL);
    quality.sample(0, 1, WalkEnd.ROOT);
    assertEquals("native 4: root=4 guessed=1 named=2", text(quality.report(TEN).runtimes()));
  }

  /** Modules 10 to 19 with a frame each, which has the same number. */
  private void modulesOfRuntimes() {
    String[] files = {"libjvm.so", "python3.11", "php8.2", "libruby-3.1.so.3.1", "node"};
    for (int i = 0; i < files.length; i++) {
      stacks.moduleSeen(10 + i, ModuleKind.FILE, "/usr/lib/" + files[i], "");
    }
    stacks.moduleSeen(15, ModuleKind.JIT, "[jit]", "");
    stacks.moduleSeen(16, ModuleKind.PYTHON, "[python]", "");
    stacks.moduleSeen(17, ModuleKind.PHP, "[php]", "");
    stacks.moduleSeen(18, ModuleKind.RUBY, "[ruby]", "");
    stacks.moduleSeen(19, ModuleKind.UNKNOWN, "[unknown]", "");
    for (int module = 10; module < 20; module++) {
      stacks.frameSeen(module, module, 0x10, module == 13);
    }
  }

  /** Takes a sample of a new stack. */
  private void sampleOf(int process, int stack, WalkEnd end, int user, int... frames) {
    stack(stack, end, user, frames);
    quality.sample(process, stack, end);
  }

  @Test
  void sample_stackOfARuntime_countsForTheRuntimeThatItEnteredLast() {
    modulesOfRuntimes();
    sampleOf(0, 0, WalkEnd.ROOT, 4, 2, 10, 15, 2, 0);
    sampleOf(0, 1, WalkEnd.ROOT, 2, 2, 10);
    sampleOf(0, 2, WalkEnd.TRUNCATED, 3, 16, 11, 2);
    sampleOf(0, 3, WalkEnd.ROOT, 2, 12, 17);
    sampleOf(0, 4, WalkEnd.ROOT, 3, 13, 18, 13);
    sampleOf(0, 5, WalkEnd.ROOT, 3, 14, 15, 14);
    sampleOf(0, 6, WalkEnd.ROOT, 4, 11, 16, 10, 15);
    sampleOf(1, 7, WalkEnd.ROOT, 2, 1, 2, 0);
    sampleOf(1, 8, WalkEnd.ROOT, 0, 0);
    quality.sample(1, -1, WalkEnd.EXITED);
    QualityReport report = quality.report(TEN);
    assertEquals(
        "Java 3: root=3 language=2; Python 1: truncated=1 language=1; PHP 1: root=1 language=1;"
            + " Ruby 1: root=1 guessed=1 language=1; Node 1: root=1 language=1; native 1: root=1;"
            + " (no user frame) 2: root=1 exited=1",
        text(report.runtimes()));
    assertEquals(
        report.window().counts().samples(),
        report.runtimes().stream().mapToLong(row -> row.counts().samples()).sum());
  }

  @Test
  void sample_stackThatDoesNotTell_isOfTheRuntimeThatItsProcessHadLast() {
    modulesOfRuntimes();
    sampleOf(0, 0, WalkEnd.JIT, 1, 15);
    sampleOf(0, 1, WalkEnd.ROOT, 2, 10, 15);
    sampleOf(0, 2, WalkEnd.JIT, 1, 15);
    sampleOf(0, 3, WalkEnd.MM_BUSY, 0, 0);
    sampleOf(0, 4, WalkEnd.ROOT, 1, 2);
    sampleOf(1, 5, WalkEnd.JIT, 1, 15);
    String jit = " jit without frame pointers=";
    assertEquals(
        "Java 3: root=1" + jit + "1 mm busy=1 language=2; native 3: root=1" + jit + "2",
        text(quality.report(TEN).runtimes()));
    quality.processSeen(0, 813, 9, "next");
    sampleOf(0, 6, WalkEnd.JIT, 1, 15);
    assertEquals(
        "native 4: root=1" + jit + "3",
        text(quality.report(TEN).runtimes().subList(1, 2)),
        "another process with the same number");
  }

  @Test
  void sample_allFramesNamed_isNamedForItsRuntimeOnceTheNamesCome() {
    modulesOfRuntimes();
    name(11, NameSource.SYMBOL);
    name(16, NameSource.SYMBOL);
    sampleOf(0, 0, WalkEnd.ROOT, 2, 11, 16);
    sampleOf(0, 1, WalkEnd.ROOT, 3, 11, 16, 2);
    sampleOf(0, 2, WalkEnd.ROOT, 3, 11, 16, 15);
    sampleOf(0, 3, WalkEnd.ROOT, 3, 11, 16, 19);
    assertEquals("Python 4: root=4 named=1 language=4", text(quality.report(TEN).runtimes()));
    name(2, NameSource.SYMBOL);
    assertEquals("Python 4: root=4 named=2 language=4", text(quality.report(TEN).runtimes()));
    name(15, NameSource.UNKNOWN);
    name(19, NameSource.LIMIT);
    QualityReport report = quality.report(TEN);
    assertEquals("Python 4: root=4 limited=1 named=2 language=4", text(report.runtimes()));
    assertEquals("app 4: root=4 limited=1", text(report.processes()), "of runtimes only");
  }

  @Test
  void sample_namesThatComeLater_areLimitedOnceAllAreThere() {
    sampleOf(0, 0, WalkEnd.ROOT, 2, 1, 2);
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
    sampleOf(0, 0, WalkEnd.ROOT, 1, 2);
    name(2, NameSource.SYMBOL);
    quality.sample(0, 0, WalkEnd.ROOT);
    assertEquals("app 2: root=2 limited=1", text(quality.report(TEN).processes()));
  }

  @Test
  void keep_stackThatIsGone_isCountedForNobody() {
    sampleOf(0, 0, WalkEnd.ROOT, 1, 2);
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
      sampleOfNew(i, i % 2);
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
    sampleOf(0, 0, WalkEnd.ROOT, 1, 1);
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
    sampleOf(0, 0, WalkEnd.ROOT, 1, 1);
    Quality held = quality.held();
    quality.sample(0, 0, WalkEnd.ROOT);
    pass(500);
    assertEquals("app 1: root=1", text(held.report(TEN).processes()));
    assertEquals(1, held.report(ALL).all().counts().samples());
  }

  @Test
  void sample_idThatIsAnotherProcessNow_hasARowOfItsOwn() {
    sampleOf(0, 0, WalkEnd.ROOT, 1, 1);
    quality.processSeen(0, 813, 7, "next");
    quality.sample(0, 0, WalkEnd.ROOT);
    assertEquals("app 1: root=1; next 1: root=1", text(quality.report(TEN).processes()));
  }

  @Test
  void sample_manyProcessesThatAreGone_areSummedUpAndNoneIsLost() {
    stack(0, WalkEnd.ROOT, 1, 1);
    for (int i = 0; i < 30_000; i++) {
      pass(100 + i);
      sampleOfNew(i, 0);
    }
    checkBounded(ALL);
    assertEquals("p29999 1: root=1", text(quality.report(1).processes().subList(9, 10)));
  }

  @Test
  void sample_manyProcessesWithinAMoment_rowsAreBoundedAndNoneIsLost() {
    stack(0, WalkEnd.ROOT, 1, 1);
    pass(100);
    for (int i = 0; i < 30_000; i++) {
      sampleOfNew(i, 0);
    }
    checkBounded(TEN);
  }

  /** Takes a sample of a process that was not there before. */
  private void sampleOfNew(int process, int stack) {
    quality.processSeen(process % 10, 1_000 + process, process, "p" + process);
    quality.sample(process % 10, stack, WalkEnd.ROOT);
  }

  /** Of 30,000 samples none is lost. */
  private void checkBounded(long window) {
    QualityReport report = quality.report(window);
    assertEquals(30_000, report.all().counts().samples());
    assertEquals(true, report.processes().size() < 10_000);
    assertEquals("(others)", report.processes().get(0).name());
  }
}
