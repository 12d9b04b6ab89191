package flametop.view.state;

/**
 * A stretch of time.
 *
 * @param from ns, CLOCK_MONOTONIC
 * @param to ns, exclusive; not before {@code from}
 */
public record TimeRange(long from, long to) {
  public TimeRange joined(TimeRange other) {
    return new TimeRange(Math.min(from, other.from), Math.max(to, other.to));
  }

  public boolean overlaps(TimeRange other) {
    return from < other.to && other.from < to;
  }
}
