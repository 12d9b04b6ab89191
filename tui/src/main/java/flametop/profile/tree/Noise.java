package flametop.profile.tree;

/**
 * Tells a change from chance: the chance of <i>n</i> samples is the square root of <i>n</i>.
 *
 * @param sampleAmount what one sample stands for: ns, or weight of events; 0 where nothing was
 *     sampled
 * @param scale how much longer the present is than what it is compared with
 */
public record Noise(double sampleAmount, double scale) {
  /** The noise of figures that are counted, not sampled. */
  public static final Noise NONE = new Noise(0, 1);

  /** A change of less than this share of all is none that anybody looks for. */
  private static final double LEAST_SHARE = 0.0005;

  /** Two amounts that differ by less than this share of the larger one are the same. */
  private static final double SAME = 0.02;

  /** Standard deviations of the number of samples that are no change. */
  private static final double DEVIATIONS = 3;

  private static final double SECOND = 1e9;

  /** The noise of samples at these rates; where there is no CPU clock, passes place the time. */
  public static Noise of(int passHz, int cpuHz, double scale) {
    return new Noise(SECOND / Math.max(1, cpuHz > 0 ? cpuHz : passHz), scale);
  }

  /**
   * Part of the larger of the two by which it grew (or shrank, below 0); 0 if it is the same.
   *
   * @param before scaled to the length of time of {@code now}
   * @param total what both are parts of
   */
  public double change(long now, long before, long total) {
    long larger = Math.max(now, before);
    long more = now - before;
    double noise = DEVIATIONS * Math.sqrt(sampleAmount * (now + before * scale));
    return larger == 0
            || Math.abs(more) < LEAST_SHARE * total
            || Math.abs(more) < SAME * larger
            || Math.abs(more) < noise
        ? 0
        : (double) more / larger;
  }
}
