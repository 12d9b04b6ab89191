package flametop.profile;

import java.util.List;

/**
 * The functions with the most time.
 *
 * @param rows in the order asked for
 * @param matching how many have time and match
 * @param functions how many have time
 * @param total ns of the whole graph, in the states asked for
 */
public record TopReport(List<Row> rows, int matching, int functions, long total) implements Page {
  /**
   * One function.
   *
   * @param self ns in the function itself
   * @param total ns in it and in what it calls; of recursive calls the outermost counts
   * @param selfByState ns by {@link flametop.sampler.State#ordinal()}, all states; zeros where no
   *     states are known
   * @param totalByState like {@code selfByState}
   */
  public record Row(
      Function function, long self, long total, long[] selfByState, long[] totalByState) {}
}
