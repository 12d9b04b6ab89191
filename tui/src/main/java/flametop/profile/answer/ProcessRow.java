package flametop.profile.answer;

import java.util.Comparator;

/**
 * A row of the pick list of processes; of the lists of comms and control groups, where {@code pid}
 * is 0 and {@code processes} may be above one; of a file also of states and sample types.
 *
 * @param comm or path of a control group, as in {@link Shape.Cgroups}
 * @param weight amount in the window and states asked for
 * @param total the same of all processes; below 0 where rows have no weights
 * @param tasksByState its tasks now, by {@link flametop.sampler.State#ordinal()}
 */
public record ProcessRow(
    int pid,
    int processes,
    int uid,
    String comm,
    String commandLine,
    long weight,
    long total,
    int[] tasksByState,
    boolean alive) {
  /** What a list has a row for. */
  public enum By {
    PROCESS,
    COMM,
    CGROUP,
    /** Of files alone; {@code pid} is {@link flametop.sampler.State#ordinal()}. */
    STATE,
    /** The sample types of a file, in the order of the file; without weights. */
    SAMPLE_TYPE
  }

  /** The heaviest first, then by name. */
  public static final Comparator<ProcessRow> HEAVIEST_FIRST =
      Comparator.comparingLong(ProcessRow::weight)
          .reversed()
          .thenComparing(ProcessRow::comm)
          .thenComparingInt(ProcessRow::pid);
}
