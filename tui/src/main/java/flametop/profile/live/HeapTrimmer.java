package flametop.profile.live;

/**
 * Keeps the heap near the size of its living objects. The collector prefers to let the heap grow up
 * to its bound, and a program that watches others takes no more memory than necessary.
 */
final class HeapTrimmer {
  private static final long LEAST_BYTES = 32L << 20;
  private static final long SOONEST_NANOS = 5_000_000_000L;

  private final Runtime runtime = Runtime.getRuntime();
  private long due = LEAST_BYTES;
  private long collected = System.nanoTime();

  /** Collects if much more is used than lived the last time, but seldom. */
  void tend() {
    long now = System.nanoTime();
    if (now - collected < SOONEST_NANOS || used() < due) {
      return;
    }
    System.gc();
    collected = now;
    due = Math.max(LEAST_BYTES, used() * 5 / 4);
  }

  private long used() {
    return runtime.totalMemory() - runtime.freeMemory();
  }
}
