package flametop.profile.live;

import flametop.profile.answer.EventsReport;
import flametop.profile.answer.Measure;
import flametop.profile.log.Owners;
import flametop.sampler.SourceState;
import flametop.sampler.SourceTotals;
import flametop.sampler.SourceUnit;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** All sources of events that the stream told of, or that were asked for, by number. */
final class EventSources {
  /** The log of a source has this part of the memory of the log of time. */
  private static final int PART = 4;

  /** As many turns have room on the strip of time. */
  private static final int MOST_TURNS = 64;

  private final Owners owners;
  private final long historyBytes;
  private final TreeMap<Integer, EventSource> sources = new TreeMap<>();

  /** The specs of sources that were switched on, and of which the stream told nothing since. */
  private final TreeMap<Integer, String> attaching = new TreeMap<>();

  /** The numbers of sources that count no more, and of which the stream may still tell. */
  private final Set<Integer> removed = new HashSet<>();

  /** No source had this number or a larger one. */
  private int next;

  private final Deque<EventsReport.Turn> turns = new ArrayDeque<>();

  EventSources(Owners owners, long historyBytes) {
    this.owners = owners;
    this.historyBytes = historyBytes / PART;
  }

  /** Null if the stream told of no such source. */
  @Nullable EventSource get(int number) {
    return sources.get(number);
  }

  /** A source is switched on: it is among the sources before the stream tells of it. */
  void asked(int number, String spec) {
    attaching.put(number, spec);
    next = Math.max(next, number + 1);
  }

  /** Forgets a source; its log must have no readers. */
  void remove(int number) {
    sources.remove(number);
    attaching.remove(number);
    removed.add(number);
  }

  /**
   * @param start when the log of time begins
   * @param time of the batch that tells it
   */
  void seen(
      int number,
      SourceState state,
      SourceUnit unit,
      String spec,
      String why,
      long start,
      long time) {
    attaching.remove(number);
    boolean known = sources.containsKey(number);
    EventSource source = source(number, start);
    if (source == null) {
      return;
    }
    boolean was = known && source.state().equals(SourceState.ON);
    source.seen(state, unit, spec, why);
    if (was != state.equals(SourceState.ON)) {
      turns.add(new EventsReport.Turn(time, spec, state));
      if (turns.size() > MOST_TURNS) {
        turns.remove();
      }
    }
  }

  void totals(int number, SourceTotals totals, long time) {
    EventSource source = source(number, time);
    if (source != null) {
      source.totals(totals, time);
    }
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

  /** Null if it was removed. */
  private @Nullable EventSource source(int number, long start) {
    if (removed.contains(number)) {
      return null;
    }
    next = Math.max(next, number + 1);
    return sources.computeIfAbsent(number, of -> new EventSource(of, historyBytes, owners, start));
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
    attaching.clear();
    for (EventSource source : sources.values()) {
      source.accounts.end();
      source.log.mark(time, passes);
    }
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
   * @param time of the newest batch
   */
  EventsReport report(int shown, long time) {
    if (next == 0) {
      return EventsReport.NONE;
    }
    EventSource source = sources.get(shown);
    float[] weights = source == null ? new float[0] : source.weightBySecond(time);
    return new EventsReport(shown, next, rows(), weights, time, List.copyOf(turns));
  }

  private List<EventsReport.Row> rows() {
    TreeMap<Integer, EventsReport.Row> rows = new TreeMap<>();
    attaching.forEach((number, spec) -> rows.put(number, unseen(number, spec)));
    sources.forEach(
        (number, source) -> rows.put(number, source.row(attaching.containsKey(number))));
    return List.copyOf(rows.values());
  }

  private static EventsReport.Row unseen(int number, String spec) {
    return new EventsReport.Row(number, spec, true, SourceState.OFF, "", Measure.EVENTS);
  }
}
