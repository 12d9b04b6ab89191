package flametop.profile.answer;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The functions with the largest amounts.
 *
 * @param rows in the order asked for
 * @param matching how many have an amount and match
 * @param functions how many have an amount, or had in what they are compared with
 * @param total amount of the whole graph, in the states asked for; of the larger of the two if it
 *     is compared
 */
public record TopReport(List<Row> rows, int matching, int functions, long total) implements Page {
  /**
   * One function.
   *
   * @param self amount in the function itself
   * @param total amount in it and in what it calls; of recursive calls the outermost counts
   * @param selfByState amounts by {@link flametop.sampler.State#ordinal()}, all states; zeros where
   *     no states are known
   * @param totalByState like {@code selfByState}
   * @param guessed whether a walk has only guessed a frame of it
   * @param before null if nothing is compared
   */
  public record Row(
      Function function,
      long self,
      long total,
      long[] selfByState,
      long[] totalByState,
      boolean guessed,
      @Nullable Before before) {
    /** Whether there is nothing left of it. */
    public boolean isGone() {
      return total == 0;
    }
  }

  /**
   * The amounts of a function in the baseline, scaled to the same length of time or the same total.
   *
   * @param self ns
   * @param total ns
   * @param selfChange {@code Noise.change} of its own
   * @param totalChange the same of the total
   */
  public record Before(long self, long total, double selfChange, double totalChange) {}
}
