package flametop.profile.answer;

import flametop.profile.answer.NodeKind.ThreadKind;
import flametop.sampler.State;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Processes or threads, also those that ended within the window or range: their times in the
 * window, and their state now, or at the moment that is held.
 *
 * @param rows in the order asked for
 * @param matching how many there are that match
 * @param tasks how many there are
 * @param ended how many others ended within the window, and were not asked for; 0 where none lives:
 *     {@code rows} has those that ended then
 * @param windowNanos how much the times really cover
 */
public record TasksReport(List<Row> rows, int matching, int tasks, int ended, long windowNanos)
    implements Page {
  /**
   * A process or a thread. The state of a process is the state of its liveliest thread: of several
   * threads that wait, the one that waits longest, else the one that came to its state last.
   *
   * @param pid 0 of what stands for processes of one comm that ended long ago
   * @param tid of a thread; 0 of a process, and of what stands for threads that ended long ago
   * @param threads of a process that live; 1 of a thread
   * @param kind of a thread; of a process {@link ThreadKind#PROGRAM}
   * @param run ns on a CPU within the window, exact
   * @param queued ns in the run queue within the window, exact
   * @param disk ns in D within the window, as far as passes saw them or the kernel counts them
   * @param off ns off the CPU within the window, that in D included
   * @param state at the moment that is shown; of a range of the past, now. null: it ended
   * @param ageNanos in that state; at least so long where it was so at first sight
   * @param leaf innermost frame, where it is now or was sampled last; null: not known
   * @param own innermost frame that is neither the kernel's nor the C library's, or where all are
   *     of these the C library's; null: not known, or none
   * @param before null if nothing is compared
   */
  public record Row(
      int pid,
      int tid,
      int threads,
      int uid,
      String comm,
      String commandLine,
      ThreadKind kind,
      long run,
      long queued,
      long disk,
      long off,
      @Nullable State state,
      long ageNanos,
      @Nullable Function leaf,
      @Nullable Function own,
      @Nullable Before before) {
    /** Whether it ended before the window or range, and is only compared with. */
    public boolean isGone() {
      return state == null && before != null && (run | queued | off) == 0;
    }
  }

  /**
   * The time of a process or thread in the baseline, scaled to the same length of time.
   *
   * @param run ns on a CPU
   * @param change {@code Noise.change} of the time on a CPU
   */
  public record Before(long run, double change) {}
}
