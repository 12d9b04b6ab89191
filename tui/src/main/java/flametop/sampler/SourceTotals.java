package flametop.sampler;

import java.util.List;

/**
 * Totals of a source of events since it was switched on first.
 *
 * @param hits events of the target
 * @param weight of all hits
 * @param taken stacks that were copied, lost ones too
 * @param lost stacks that found no room
 * @param missed events that are not in {@code hits}, since their CPU was looking at another one; -1
 *     where the kernel does not count them
 * @param rate weight between stacks now; 0: each event has a stack
 * @param nanos that the programs of the source ran; -1 where the kernel does not count it
 * @param histogram hits by the power of two of their weight: those below 2, below 4, below 8 …
 */
public record SourceTotals(
    long hits,
    long weight,
    long taken,
    long lost,
    long missed,
    long rate,
    long nanos,
    List<Long> histogram) {
  /** The totals of a source that had no event. */
  public static final SourceTotals NONE = new SourceTotals(0, 0, 0, 0, 0, 0, 0, List.of());

  public SourceTotals {
    histogram = List.copyOf(histogram);
  }
}
