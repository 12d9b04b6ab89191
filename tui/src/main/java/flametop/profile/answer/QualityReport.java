package flametop.profile.answer;

import flametop.sampler.DebugFiles;
import flametop.sampler.OwnPart;
import flametop.sampler.WalkEnd;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How good the samples are and what they cost, immutable.
 *
 * @param windowNanos what {@code window} and the rows are of; it begins up to five seconds earlier
 *     than was asked for
 * @param all since the start, or since {@code z}
 * @param processes a row for each process that was sampled in the window
 * @param modules a row for each module with a frame in a stack of the window. Here whole are the
 *     walks that went on beyond the module, and a reason counts for the module where the walk ended
 * @param runtimes a row for each runtime that stacks of the window are of: each sample is of one,
 *     or of none, which has its row too
 * @param parts what flametop's parts cost lately
 * @param resident bytes, by process
 * @param copiedPerSecond bytes of stack memory lately; NaN if not known yet
 * @param streamPerSecond bytes of the stream lately; NaN if not known yet
 * @param debugFiles that are looked for by build id, since the start
 */
public record QualityReport(
    long windowNanos,
    Sum window,
    Sum all,
    List<Row> processes,
    List<Row> modules,
    List<Row> runtimes,
    List<Part> parts,
    List<OwnPart> resident,
    double copiedPerSecond,
    double streamPerSecond,
    DebugFiles debugFiles)
    implements Page {
  /** Asks for the quality of the window that is shown. */
  public record Query() implements PageQuery {
    @Override
    public boolean isAnsweredBy(@Nullable Page page) {
      return page instanceof QualityReport;
    }
  }

  // Places in Counts.byOutcome, behind those of the ends of walks.
  public static final int GUESSED = WalkEnd.values().length;
  public static final int NAME_LIMITED = GUESSED + 1;
  public static final int NAMED = NAME_LIMITED + 1;
  public static final int IN_LANGUAGE = NAMED + 1;
  public static final int OUTCOMES = IN_LANGUAGE + 1;

  /**
   * Counts of samples: of stacks that were taken by a pass or by the CPU clock, or could not be. A
   * task that a pass found unchanged is none, since its stack was not taken again.
   *
   * @param byOutcome how samples ended by {@link WalkEnd#ordinal()}; then, from {@link #GUESSED}
   *     on, the samples that the methods below tell of
   */
  public record Counts(long[] byOutcome) {
    /** All samples. */
    public long samples() {
      return Arrays.stream(byOutcome, 0, GUESSED).sum();
    }

    public long whole() {
      return of(WalkEnd.ROOT);
    }

    /** Samples that have a frame that was guessed, whole or not. */
    public long guessed() {
      return byOutcome[GUESSED];
    }

    /**
     * Samples that have a frame without a symbol, since its file, process or user has more to read
     * than there is a budget for. A sample counts when its names come.
     */
    public long nameLimited() {
      return byOutcome[NAME_LIMITED];
    }

    /**
     * Samples whose frames all have names; of runtimes only. A sample counts when its names come.
     */
    public long named() {
      return byOutcome[NAMED];
    }

    /** Samples with a function of the language that the runtime runs; of runtimes only. */
    public long inLanguage() {
      return byOutcome[IN_LANGUAGE];
    }

    public long of(WalkEnd end) {
      return byOutcome[end.ordinal()];
    }
  }

  /**
   * @param pid 0 for a module, for a runtime, and for processes that are summed up
   */
  public record Row(int pid, String name, Counts counts) {}

  /**
   * @param worstGapNanos the longest time from one pass to the next; 0 if there were not two
   * @param lostSamples samples of the CPU clock that were dropped
   * @param lostEnds exit and exec records that were dropped
   * @param missedTicks ticks of the CPU clock that did not come, or found another BPF program
   */
  public record Sum(
      Counts counts,
      long due,
      long made,
      long late,
      long worstGapNanos,
      long lostSamples,
      long lostEnds,
      long missedTicks) {}

  /**
   * @param share of one CPU
   */
  public record Part(String name, double share) {}
}
