package flametop.profile.answer;

/**
 * A stretch of time.
 *
 * @param from ns, CLOCK_MONOTONIC
 * @param to ns, exclusive; not before {@code from}
 */
public record TimeRange(long from, long to) {
  /** The stretch of {@code nanos} that ends at a time. */
  public static TimeRange before(long to, long nanos) {
    return new TimeRange(to - nanos, to);
  }

  /** Its length, ns. */
  public long nanos() {
    return to - from;
  }

  public TimeRange joined(TimeRange other) {
    return new TimeRange(Math.min(from, other.from), Math.max(to, other.to));
  }

  public boolean overlaps(TimeRange other) {
    return from < other.to && other.from < to;
  }
}
