package flametop.profile.live;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Measure;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.EventAccounts;
import flametop.profile.log.Owners;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.sampler.SourceUnit;
import java.util.Map;

/** A source of events: what the stream says of it, and a log of its measure. */
final class EventSource {
  private static final double SECOND = 1e9;
  private static final long SECOND_NANOS = 1_000_000_000L;
  private static final Map<SourceUnit, Measure> MEASURES =
      Map.of(
          SourceUnit.BYTES, Measure.BYTES,
          SourceUnit.NANOS, Measure.DURATION,
          SourceUnit.WAITS, Measure.WAITS);

  final int number;
  final ChangeLog log;
  final EventAccounts accounts;
  private String spec = "";
  private SourceState state = SourceState.ON;
  private String why = "";
  private Measure measure = Measure.EVENTS;

  /** Totals when the log began, and totals of the last full second. */
  private SourceTotals before = SourceTotals.NONE;

  private long beforeTime = Long.MIN_VALUE;
  private double hitsPerSecond = Double.NaN;
  private double cost = Double.NaN;

  /** Weight by second of CLOCK_MONOTONIC modulo their number, and which second that is. */
  private final long[] weights = new long[EventsReport.SECONDS];

  private final long[] weightSecond = new long[EventsReport.SECONDS];

  /**
   * @param start when the log begins, ns
   */
  EventSource(int number, long historyBytes, Owners owners, long start) {
    this.number = number;
    log = new ChangeLog(historyBytes, owners);
    log.startAt(start);
    accounts = new EventAccounts(log);
  }

  void seen(SourceState now, SourceUnit unit, String asked, String missing) {
    state = now;
    spec = asked;
    why = missing;
    measure = MEASURES.getOrDefault(unit, Measure.EVENTS);
  }

  SourceState state() {
    return state;
  }

  void totals(SourceTotals now, long time) {
    weigh(time, now.weight() - accounts.totals().weight());
    accounts.totals(now);
    if (beforeTime != Long.MIN_VALUE && time - beforeTime >= SECOND) {
      double seconds = (time - beforeTime) / SECOND;
      hitsPerSecond = (now.hits() - before.hits()) / seconds;
      cost =
          now.nanos() < 0 || before.nanos() < 0
              ? Double.NaN
              : (now.nanos() - before.nanos()) / SECOND / seconds;
    }
    if (beforeTime == Long.MIN_VALUE || time - beforeTime >= SECOND) {
      before = now;
      beforeTime = time;
    }
  }

  private void weigh(long time, long grown) {
    long second = Math.floorDiv(time, SECOND_NANOS);
    int bin = (int) Math.floorMod(second, (long) weights.length);
    weights[bin] = (weightSecond[bin] == second ? weights[bin] : 0) + Math.max(0, grown);
    weightSecond[bin] = second;
  }

  /** Weight by second, the newest last; NaN where nothing was counted. */
  float[] weightBySecond(long time) {
    long last = Math.floorDiv(time, SECOND_NANOS);
    float[] by = new float[weights.length];
    for (int i = 0; i < by.length; i++) {
      long second = last - by.length + 1 + i;
      int bin = (int) Math.floorMod(second, (long) by.length);
      by[i] = weightSecond[bin] == second && second > 0 ? weights[bin] : Float.NaN;
    }
    return by;
  }

  Measure measure() {
    return measure;
  }

  /** Weight since the start: exact, by the kernel. */
  long exactTotal() {
    return accounts.totals().weight();
  }

  /**
   * @param asked whether it was switched on, and the stream told nothing of that yet
   */
  EventsReport.Row row(boolean asked) {
    return new EventsReport.Row(
        number,
        spec,
        asked || state.equals(SourceState.OPENING),
        state,
        why,
        measure,
        accounts.totals(),
        accounts.stackWeight(),
        accounts.notSampled(),
        hitsPerSecond,
        cost);
  }
}
