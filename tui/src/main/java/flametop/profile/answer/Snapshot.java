package flametop.profile.answer;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * All that one picture needs, immutable.
 *
 * @param graph what is visible
 * @param total weight in the states shown, of the whole graph
 * @param selection the selected node
 * @param search null if there is none
 * @param reversed whether the graph is that of callers: innermost frames first
 * @param refolding the past is being folded into another shape; the graph is still the old one
 * @param context what the source tells beside the graph
 * @param notices what does not work, with its remedy; newest last
 */
public record Snapshot(
    GraphSlice graph,
    long total,
    Selection selection,
    @Nullable Search search,
    boolean reversed,
    boolean refolding,
    Context context,
    List<String> notices) {
  /** The picture before the first one: the source is being opened. */
  public static final Snapshot OPENING =
      new Snapshot(
          GraphSlice.EMPTY, 0, Selection.NONE, null, false, false, new Opening(), List.of());

  /** The facts that a source has beside the graph, by the kind of the source. */
  public sealed interface Context permits Opening, Live, File {
    /** The measure of the amounts of the graph. */
    Measure measure();
  }

  /** A source that is being opened tells nothing. */
  public record Opening() implements Context {
    @Override
    public Measure measure() {
      return Measure.TIME;
    }
  }

  /**
   * The facts of a machine, or of a recording of a machine.
   *
   * @param measure of the amounts of the graph
   * @param time what the graph covers
   * @param host what the machine does; held while the rest is
   * @param losses what is missing, also while the rest is frozen
   * @param cost of flametop itself, also while the rest is frozen
   * @param events the sources of events, also while the rest is frozen
   * @param ended whether no more samples will come: a replay is over, or sampling has failed
   */
  public record Live(
      Measure measure,
      Covered time,
      Host host,
      Losses losses,
      Cost cost,
      EventsReport events,
      boolean ended)
      implements Context {}

  /**
   * The facts of a file of stacks.
   *
   * @param openNanos how long the file has been open
   */
  public record File(Reading reading, long openNanos) implements Context {
    @Override
    public Measure measure() {
      return reading.measure();
    }
  }

  /**
   * The time that the graph of a live source really covers. It may be shorter than the time that
   * was asked for: the run may be too young, and old history may only be left as sums.
   *
   * @param graph what the graph covers
   * @param ranged whether that is a range of the past, which stays; else the last so many ns
   * @param frozen whether the moment is held
   * @param waitingNanos how much came in since it was held
   * @param baseline what the graph is compared with; empty: nothing, or it is still being folded
   * @param runNanos length of the run, since its start or since {@code z}
   * @param past how much the past tells apart
   */
  public record Covered(
      TimeRange graph,
      boolean ranged,
      boolean frozen,
      long waitingNanos,
      Optional<TimeRange> baseline,
      long runNanos,
      Past past) {
    /** How much the graph covers, ns. */
    public long nanos() {
      return graph.nanos();
    }
  }

  /**
   * How much the past tells apart: the older, the less.
   *
   * @param fullNanos history older than this is sums; {@link Long#MAX_VALUE}: all is in full
   * @param stepNanos the longest time that is one sum in the graph; 0: the graph is of history in
   *     full; {@link Long#MAX_VALUE}: it is the one sum of what is oldest
   * @param bytes the memory of history in full
   * @param wallNanos ns from CLOCK_MONOTONIC to the clock on the wall, ns since 1970
   */
  public record Past(long fullNanos, long stepNanos, long bytes, long wallNanos) {
    /** All is in full. */
    public static final Past FULL = new Past(Long.MAX_VALUE, 0, 0, 0);
  }

  /**
   * The state of the machine, whatever time the graph is of.
   *
   * @param time ns, CLOCK_MONOTONIC: the present, or the moment that is held
   * @param tasks their number, by {@link flametop.sampler.State#ordinal()}
   * @param cpus one row a CPU
   * @param busyCpus busy CPUs (0 to their number) by second, oldest first, at most 3,600; NaN where
   *     nothing was counted
   * @param waitingTasks tasks waiting for a CPU by second, like {@code busyCpus}
   * @param load load averages 1, 5, 15 min; NaN if not known
   * @param passHz rate of passes
   * @param cpuHz rate of the CPU clock
   */
  public record Host(
      long time,
      int[] tasks,
      List<CpuRow> cpus,
      float[] busyCpus,
      float[] waitingTasks,
      double[] load,
      int passHz,
      int cpuHz) {}

  /**
   * The nodes that a search found in the whole graph.
   *
   * @param pattern the pattern of the query
   * @param weight amount of all nodes that match, each stack counted once
   * @param nodes matches in drawing order, at most 4,096
   * @param count all matches
   * @param more whether there may be more matches in parts that are not searched yet; the weight is
   *     of all
   */
  public record Search(Pattern pattern, long weight, long[] nodes, int count, boolean more) {}

  /**
   * The losses since the start, or since {@code z}.
   *
   * @param lostSamples CPU samples dropped
   * @param latePasses passes due that were not made
   * @param shortShare share of the walked stacks that are short
   * @param guessedShare share of the samples that have a guessed frame
   * @param nameLimited samples with a frame that has no name, since there is no budget to look for
   *     it
   * @param ownShare CPU that flametop costs, of one CPU, over about the last second; NaN if not
   *     known
   */
  public record Losses(
      long lostSamples,
      long latePasses,
      double shortShare,
      double guessedShare,
      long nameLimited,
      double ownShare) {}

  /**
   * The cost of flametop.
   *
   * @param time ns, CLOCK_MONOTONIC; 0 if not known yet
   * @param nanos of CPU until then, since the stream began
   */
  public record Cost(long time, long nanos) {}

  /**
   * How far a file of stacks is read.
   *
   * @param name of the file, clean
   * @param number of it, from 1
   * @param files how many there are
   * @param bytes read so far
   * @param size in bytes; -1 where that is not known, as of a pipe
   * @param done all is read, or as much as can be
   * @param measure of its numbers
   * @param stacks lines that were used
   * @param waits what it waits for before its first line; empty if for nothing
   * @param folded how much of a graph that is folded anew is there, 0 to 1; 1 if none is
   * @param comm whether the outermost frames are comms, else they are functions
   * @param ownComm the same without what {@link Shape.Comm} says
   * @param says what it says of its stacks
   * @param types the sample types of the file, in its order; empty if it has one
   * @param type which of them is shown
   */
  public record Reading(
      String name,
      int number,
      int files,
      long bytes,
      long size,
      boolean done,
      Measure measure,
      long stacks,
      String waits,
      double folded,
      boolean comm,
      boolean ownComm,
      Set<Capability> says,
      List<String> types,
      int type) {}

  /** Whether no picture has come yet. */
  public boolean isOpening() {
    return context instanceof Opening;
  }

  /** The measure of the amounts of the graph. */
  public Measure measure() {
    return context.measure();
  }

  /** The facts of a live source; only for the snapshot of a live source. */
  public Live live() {
    return (Live) context;
  }

  /** How far the file is read; only for the snapshot of a file. */
  public Reading reading() {
    return ((File) context).reading();
  }
}
