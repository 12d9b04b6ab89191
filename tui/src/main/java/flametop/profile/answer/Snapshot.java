package flametop.profile.answer;

import java.util.List;
import java.util.regex.Pattern;

/**
 * All that one picture needs, immutable.
 *
 * @param time ns, CLOCK_MONOTONIC: the moment that the graph shows, its end
 * @param runNanos since the start (or since {@code z})
 * @param windowNanos how much the graph really covers
 * @param ranged whether it is of a range of the past, which stays; else of the last so many ns
 * @param frozen whether the moment is held
 * @param waitingNanos how much came in since it was held
 * @param refolding the past is being folded into another shape; the graph is still the old one
 * @param reversed whether the graph is that of callers: innermost frames first
 * @param compactedNanos history older than this before {@code present} is only sums; {@link
 *     Long#MAX_VALUE}: none
 * @param graph what is visible
 * @param baseline what the graph is compared with; null: nothing, or another file
 * @param total ns in the states shown, whole graph
 * @param selection the selected node
 * @param search null if there is none
 * @param tasks tasks now, by {@link flametop.sampler.State#ordinal()}
 * @param losses what is missing, also while the rest is frozen
 * @param present ns, CLOCK_MONOTONIC: the moment of what follows, whatever time the graph is of
 * @param cpus one row a CPU
 * @param busyCpus busy CPUs (0 to their number) by second, oldest first, at most 300; NaN where
 *     nothing was counted
 * @param waitingTasks tasks waiting for a CPU by second, like {@code busyCpus}
 * @param load load averages 1, 5, 15 min; NaN if not known
 * @param cost of flametop itself, also while the rest is frozen
 * @param ended no more will come: a replay is over, or sampling has failed
 * @param notices what does not work, with its remedy; newest last
 * @param reading of a file of stacks; null if it is none
 */
public record Snapshot(
    long time,
    long runNanos,
    long windowNanos,
    boolean ranged,
    boolean frozen,
    long waitingNanos,
    boolean refolding,
    boolean reversed,
    long compactedNanos,
    GraphSlice graph,
    Baseline baseline,
    long total,
    Selection selection,
    Search search,
    int[] tasks,
    Losses losses,
    long present,
    List<CpuRow> cpus,
    float[] busyCpus,
    float[] waitingTasks,
    double[] load,
    int passHz,
    int cpuHz,
    Cost cost,
    boolean ended,
    List<String> notices,
    Reading reading) {
  /**
   * What was shown when it was held.
   *
   * @param time ns, CLOCK_MONOTONIC: its end
   * @param windowNanos how much it covers
   */
  public record Baseline(long time, long windowNanos) {}

  /**
   * What a search found in the whole graph.
   *
   * @param pattern that of the query
   * @param weight ns below nodes that match, each counted once
   * @param nodes matches in drawing order, at most 4,096
   * @param count all matches
   * @param more whether there are more, where nobody has looked yet; the weight is of all
   */
  public record Search(Pattern pattern, long weight, long[] nodes, int count, boolean more) {}

  /**
   * Since the start, or since {@code z}.
   *
   * @param lostSamples CPU samples dropped
   * @param latePasses passes due that were not made
   * @param shortShare share of the walked stacks that are short
   * @param ownShare CPU that flametop costs, of one CPU, over about the last second; NaN if not
   *     known
   */
  public record Losses(long lostSamples, long latePasses, double shortShare, double ownShare) {}

  /**
   * What flametop has cost.
   *
   * @param time ns, CLOCK_MONOTONIC
   * @param nanos of CPU until then, since the stream began
   */
  public record Cost(long time, long nanos) {}

  /**
   * How far a file of stacks is read. All else that is measured in ns is then what the file counts.
   *
   * @param name of the file, clean
   * @param number of it, from 1
   * @param files how many there are
   * @param bytes read so far
   * @param size in bytes; -1 where that is not known, as of a pipe
   * @param done all is read, or as much as can be
   * @param unit of the numbers: {@code us}, {@code samples}
   * @param parts how many of the weights make one of the unit
   * @param stacks lines that were used
   * @param waits what it waits for before its first line; empty if for nothing
   * @param folded how much of a graph that is folded anew is there, 0 to 1; 1 if none is
   * @param comm whether the outermost frames are comms, else they are functions
   * @param ownComm the same without what {@link Shape.Comm} says
   */
  public record Reading(
      String name,
      int number,
      int files,
      long bytes,
      long size,
      boolean done,
      String unit,
      long parts,
      long stacks,
      String waits,
      double folded,
      boolean comm,
      boolean ownComm) {}
}
