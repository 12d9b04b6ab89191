package flametop.profile.host;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.profile.answer.CpuReport;
import flametop.profile.answer.CpuRow;
import flametop.sampler.StreamFacts;
import java.util.List;
import org.junit.jupiter.api.Test;

class HostUsageTest {
  private static final long SECOND = 1_000_000_000L;

  private final HostUsage host =
      new HostUsage(
          StreamFacts.parse(
              """
              cpus=0,1
              hz.pass=19
              hz.cpu=99
              target=all
              idle.0.0=POLL|0|0
              idle.0.1=C6|133|600
              frequency.missing=no driver
              """));

  private void tell(int second, long idle0, long idle1, long wakeups) {
    host.usage(0, idle0, second * SECOND, wakeups, 0, 0, 0, 0, -1, 0, -1);
    host.usage(1, idle1, second * SECOND, 0, 0, 0, 0, 0, -1, 0, -1);
    host.batchEnds(second * SECOND);
  }

  @Test
  void rows_cyclesAndFrequency_utilisationIsCyclesOverThoseThatPassed() {
    host.cycles(0, 1_000_000_000L, 0, 0);
    host.cycles(1, -1, -1, 5);
    tell(10, 0, 0, 0);
    // Half a second at 1 GHz, half at 3 GHz; 500 million cycles run.
    host.cycles(0, 3_000_000_000L, 2_000_000_000L, 500_000_000L);
    host.cycles(1, -1, -1, 9);
    tell(11, 0, 0, 0);
    CpuRow first = host.rows().get(0);
    assertEquals(2e9, first.frequency(), 1);
    assertEquals(0.25, first.utilisation(), 1e-9);
    CpuRow second = host.rows().get(1);
    assertTrue(Double.isNaN(second.frequency()), "no frequency");
    assertTrue(Double.isNaN(second.utilisation()), "cycles alone are no share");
  }

  @Test
  void rows_turbo_utilisationIsAboveOne() {
    host.cycles(0, 2_000_000_000L, 0, 0);
    tell(10, 0, 0, 0);
    host.cycles(0, 2_000_000_000L, 2_000_000_000L, 3_000_000_000L);
    tell(11, 0, 0, 0);
    assertEquals(1.5, host.rows().get(0).utilisation(), 1e-9);
  }

  @Test
  void rows_frequencyWithoutCounter_utilisationIsNotKnown() {
    host.cycles(0, 2_000_000_000L, 0, -1);
    tell(10, 0, 0, 0);
    host.cycles(0, 2_000_000_000L, 2_000_000_000L, -1);
    tell(11, 0, 0, 0);
    assertEquals(2e9, host.rows().get(0).frequency(), 1);
    assertTrue(Double.isNaN(host.rows().get(0).utilisation()));
  }

  @Test
  void rows_idleStates_haveTheirFactsAndShares() {
    tell(10, 0, 0, 0);
    host.idleState(0, 0, SECOND / 10, 100, 0, 30);
    host.idleState(0, 1, SECOND / 2, 50, 20, 0);
    tell(11, 6 * SECOND / 10, 0, 150);
    List<CpuRow.IdleRow> idle = host.rows().get(0).idle();
    assertEquals(
        List.of(
            new CpuRow.IdleRow("POLL", 0, 0, 0.1, 100, 0, 0.3),
            new CpuRow.IdleRow("C6", 133, 600, 0.5, 50, 0.4, 0)),
        idle);
    assertEquals(1e6, idle.get(0).meanStay(), 1);
    assertEquals(10e6, idle.get(1).meanStay(), 1);
    assertEquals(0.6e9 / 150, host.rows().get(0).meanStay(), 1);
    assertEquals(List.of(), host.rows().get(1).idle());
    assertTrue(Double.isNaN(host.rows().get(1).meanStay()), "no stay ended");
  }

  @Test
  void busyBySecond_secondWithoutFigures_isNotKnown() {
    tell(10, 0, 0, 0);
    tell(11, 0, SECOND / 2, 0);
    tell(13, 2 * SECOND, SECOND / 2, 0);
    host.passEnds(13 * SECOND, 3);
    host.passEnds(13 * SECOND + 1, 4);
    assertArrayEquals(
        new float[] {1.5f, Float.NaN, 1, Float.NaN}, host.busyBySecond(14 * SECOND), 1e-6f);
    assertArrayEquals(
        new float[] {Float.NaN, Float.NaN, 3.5f, Float.NaN}, host.queuedBySecond(14 * SECOND));
  }

  @Test
  void rows_cpuWentOffline_hasNoRowAndCountsNoTime() {
    tell(10, 0, 0, 0);
    tell(11, 0, 0, 0);
    host.cpuChanged(1, false, List.of());
    host.usage(0, SECOND, 12 * SECOND, 0, 0, 0, 0, 0, -1, 0, -1);
    host.batchEnds(12 * SECOND);
    assertEquals(List.of(0), host.rows().stream().map(CpuRow::cpu).toList());
    assertArrayEquals(new float[] {2, 0}, host.busyBySecond(12 * SECOND), 1e-6f);
  }

  @Test
  void rows_cpuCameOnlineLater_hasARowWithItsIdleStates() {
    host.usage(2, 0, SECOND, 0, 0, 0, 0, 0, -1, 0, -1);
    host.cpuChanged(2, true, List.of(new StreamFacts.IdleState(1, "C1", 2, 20)));
    assertTrue(Double.isNaN(host.rows().get(2).busy()), "nothing is known of it yet");
    host.usage(2, 0, SECOND, 0, 0, 0, 0, 0, -1, 0, -1);
    tell(10, 0, 0, 0);
    host.usage(2, SECOND / 2, 2 * SECOND, 0, 0, 0, 0, 0, -1, 0, -1);
    host.idleState(2, 1, SECOND / 2, 10, 5, 0);
    tell(11, 0, 0, 0);
    CpuRow row = host.rows().get(2);
    assertEquals(0.5, row.busy(), 1e-9);
    assertEquals(List.of(new CpuRow.IdleRow("C1", 2, 20, 0.5, 10, 0.5, 0)), row.idle());
  }

  @Test
  void report_whatIsMissing_hasItsReason() {
    CpuReport report = host.report(host.rows());
    assertEquals("no driver", report.noFrequency());
    assertEquals("", report.noCycles());
    assertEquals("", report.noIdleStates());
    assertEquals(2, report.cpus().size());
  }
}
