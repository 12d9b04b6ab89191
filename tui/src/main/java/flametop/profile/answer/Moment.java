package flametop.profile.answer;

import java.util.Optional;
import java.util.OptionalLong;

/**
 * Which moment a live source shows. Keys make the next one, and the source is told each.
 *
 * @param windowNanos the last so many ns; {@link Long#MAX_VALUE}: all since the start
 * @param since when the window begins instead, ns; empty: where {@code windowNanos} says
 * @param range a range of the past, shown instead of the window; empty: the window is shown
 * @param frozen the moment is held at which this became true; sampling goes on
 * @param baseline number of the baseline that pictures are compared with: at each new number, what
 *     is shown becomes the baseline; 0: nothing is compared
 */
public record Moment(
    long windowNanos, OptionalLong since, Optional<TimeRange> range, boolean frozen, int baseline) {
  /** All since the start, up to the present. */
  public static final Moment ALL = last(Long.MAX_VALUE);

  /** The last so many ns, up to the present. */
  public static Moment last(long nanos) {
    return new Moment(nanos, OptionalLong.empty(), Optional.empty(), false, 0);
  }

  /** Whether the window is all since the start. */
  public boolean isAll() {
    return windowNanos == Long.MAX_VALUE && since.isEmpty();
  }

  /**
   * How long the window is at a time, ns; {@link Long#MAX_VALUE}: all since the start.
   *
   * @param time ns
   */
  public long span(long time) {
    return since.isPresent() ? Math.max(0, time - since.getAsLong()) : windowNanos;
  }

  /** The same of the last so many ns. */
  public Moment withWindow(long nanos) {
    return new Moment(nanos, OptionalLong.empty(), range, frozen, baseline);
  }

  /** All since a time, up to the present, compared with nothing. */
  public Moment beginningAt(long time) {
    return new Moment(windowNanos, OptionalLong.of(time), Optional.empty(), false, 0);
  }

  /** The same of the window that {@link #beginningAt} replaced. */
  public Moment withoutSince() {
    return withWindow(windowNanos);
  }

  /** The same of a range of the past. */
  public Moment withRange(TimeRange value) {
    return new Moment(windowNanos, since, Optional.of(value), frozen, baseline);
  }

  /** The same of the window again. */
  public Moment withoutRange() {
    return new Moment(windowNanos, since, Optional.empty(), frozen, baseline);
  }

  public Moment withFrozen(boolean value) {
    return new Moment(windowNanos, since, range, value, baseline);
  }

  /** The same moment, compared with the one that is shown now. */
  public Moment compared() {
    return new Moment(windowNanos, since, range, frozen, baseline + 1);
  }

  /** The same compared with nothing. */
  public Moment comparedNoMore() {
    return new Moment(windowNanos, since, range, frozen, 0);
  }

  // A record's own are made when they are first used, which costs the first key 20 ms.
  @Override
  public boolean equals(Object other) {
    return other instanceof Moment m
        && m.windowNanos == windowNanos
        && m.since.equals(since)
        && m.frozen == frozen
        && m.baseline == baseline
        && m.range.equals(range);
  }

  @Override
  public int hashCode() {
    return Long.hashCode(windowNanos) ^ since.hashCode() ^ baseline;
  }
}
