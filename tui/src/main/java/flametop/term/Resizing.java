package flametop.term;

/**
 * Sizes change in storms: a new size counts after a pause without another change, or after a
 * longest wait. All times are ns of a clock that only goes forward.
 */
final class Resizing {
  private static final long PAUSE_NANOS = 50_000_000L;
  private static final long STORM_NANOS = 250_000_000L;

  private boolean changes;
  private long since;
  private long at;

  /** The size has changed. */
  void changed(long now) {
    since = changes ? since : now;
    at = Math.min(now + PAUSE_NANOS, since + STORM_NANOS);
    changes = true;
  }

  /** Whether a new size does not count yet. A picture painted meanwhile would be in the way. */
  boolean isUnderWay() {
    return changes;
  }

  /** Whether a new size counts now; true once for each. */
  boolean isOver(long now) {
    if (!changes || now - at < 0) {
      return false;
    }
    changes = false;
    return true;
  }

  /** How long {@link #isOver} will not hold. */
  long untilOver(long now) {
    return changes ? Math.max(0, at - now) : Long.MAX_VALUE;
  }
}
