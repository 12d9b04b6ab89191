package flametop.profile.live;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Measure;
import flametop.profile.log.ChangeLog;
import flametop.profile.log.EventAccounts;
import flametop.profile.log.Owners;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.sampler.SourceUnit;

/** A source of events: what the stream says of it, and a log of its measure. */
final class EventSource {
  private static final double SECOND = 1e9;

  final int number;
  final ChangeLog log;
  final EventAccounts accounts;
  private String spec = "";
  private SourceState state = SourceState.ON;
  private String why = "";
  private Measure measure = Measure.EVENTS;

  /** Totals when the log began, and those of the last full second. */
  private SourceTotals start = SourceTotals.NONE;

  private SourceTotals before = SourceTotals.NONE;
  private long beforeTime = Long.MIN_VALUE;
  private double hitsPerSecond = Double.NaN;
  private double weightPerSecond = Double.NaN;
  private double cost = Double.NaN;

  EventSource(int number, long historyBytes, Owners owners) {
    this.number = number;
    log = new ChangeLog(historyBytes, owners);
    accounts = new EventAccounts(log);
  }

  void seen(SourceState now, SourceUnit unit, String asked, String missing) {
    state = now;
    spec = asked;
    why = missing;
    measure =
        unit.equals(SourceUnit.BYTES)
            ? Measure.BYTES
            : unit.equals(SourceUnit.NANOS) ? Measure.DURATION : Measure.EVENTS;
  }

  void totals(SourceTotals now, long time) {
    accounts.totals(now);
    if (beforeTime != Long.MIN_VALUE && time - beforeTime >= SECOND) {
      double seconds = (time - beforeTime) / SECOND;
      hitsPerSecond = (now.hits() - before.hits()) / seconds;
      weightPerSecond = (now.weight() - before.weight()) / seconds;
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

  /** The log is begun anew at this time; it must have no readers. */
  void restart(long time, long passes) {
    start = accounts.totals();
    accounts.restart();
    log.clear(time);
    log.mark(time, passes);
  }

  Measure measure() {
    return measure;
  }

  String spec() {
    return spec;
  }

  /** Weight since the start, or since {@code z}: exact, by the kernel. */
  long exactTotal() {
    return accounts.totals().weight() - start.weight();
  }

  EventsReport.Row row() {
    return new EventsReport.Row(
        number,
        spec,
        state,
        why,
        measure,
        accounts.totals().since(start),
        hitsPerSecond,
        weightPerSecond,
        cost);
  }
}
