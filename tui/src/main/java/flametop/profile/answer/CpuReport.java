package flametop.profile.answer;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The CPUs over the last refresh, immutable.
 *
 * @param cpus a row for each
 * @param noIdleStates why there are no idle states; empty if there are
 * @param noFrequency why there are no frequencies; empty if there are
 * @param noCycles why no cycles are counted; empty if they are
 */
public record CpuReport(List<CpuRow> cpus, String noIdleStates, String noFrequency, String noCycles)
    implements Page {
  /** Asks for it. */
  public record Query() implements PageQuery {
    @Override
    public boolean isAnsweredBy(@Nullable Page page) {
      return page instanceof CpuReport;
    }
  }
}
