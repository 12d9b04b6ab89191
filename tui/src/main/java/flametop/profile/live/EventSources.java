package flametop.profile.live;

import flametop.profile.answer.EventsReport;
import flametop.profile.log.Owners;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.sampler.SourceUnit;
import java.util.BitSet;
import java.util.Collection;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All sources of events that the stream told of, by number. */
final class EventSources {
  /** The log of a source has this part of the memory of the log of time. */
  private static final int PART = 4;

  private final Owners owners;
  private final long historyBytes;
  private final TreeMap<Integer, EventSource> sources = new TreeMap<>();

  EventSources(Owners owners, long historyBytes) {
    this.owners = owners;
    this.historyBytes = historyBytes / PART;
  }

  Collection<EventSource> all() {
    return sources.values();
  }

  /** Null if the stream told of no such source. */
  @Nullable EventSource get(int number) {
    return sources.get(number);
  }

  /**
   * @param start when the log of time begins
   */
  void seen(int number, SourceState state, SourceUnit unit, String spec, String why, long start) {
    source(number, start).seen(state, unit, spec, why);
  }

  void totals(int number, SourceTotals totals, long time) {
    source(number, time).totals(totals, time);
  }

  /**
   * @param owner of the task that the event is of
   */
  void event(int number, int owner, int stack, long weight, long rate) {
    EventSource source = sources.get(number);
    if (source != null) {
      source.accounts.event(owner, stack, weight, rate);
    }
  }

  private EventSource source(int number, long start) {
    return sources.computeIfAbsent(
        number,
        of -> {
          EventSource source = new EventSource(of, historyBytes, owners);
          source.log.startAt(start);
          return source;
        });
  }

  /** Ends what one batch told. */
  void mark(long time, long passes) {
    for (EventSource source : sources.values()) {
      source.accounts.settle(time);
      source.log.mark(time, passes);
    }
  }

  /** No more batches will come. */
  void end(long time, long passes) {
    for (EventSource source : sources.values()) {
      source.accounts.end();
      source.log.mark(time, passes);
    }
  }

  /** Begins the logs anew; they must have no readers. */
  void restart(long time, long passes) {
    sources.values().forEach(source -> source.restart(time, passes));
  }

  /** Adds the owners and stacks that logs and samples refer to. */
  void mark(BitSet ofOwners, BitSet ofStacks) {
    for (EventSource source : sources.values()) {
      source.log.mark(ofOwners, ofStacks);
      source.accounts.mark(ofOwners, ofStacks);
    }
  }

  /**
   * @param shown number of the source whose measure is shown
   */
  EventsReport report(int shown) {
    return new EventsReport(shown, sources.values().stream().map(EventSource::row).toList());
  }
}
