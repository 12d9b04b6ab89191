package flametop.cli;

import flametop.sampler.Counter;
import java.util.List;
import java.util.Locale;

/**
 * The three sums by which nothing is lost in silence: of passes, of tasks × passes, and of samples.
 */
record Balance(long[] counters) {
  /**
   * A line for each sum: the passes that were due are the late ones and those that were made, and
   * so on.
   */
  List<String> lines() {
    return List.of(
        line(
            passesHold(),
            "passes   %,d due = %,d made + %,d late",
            of(Counter.PASSES_DUE),
            of(Counter.PASSES_MADE),
            of(Counter.PASSES_LATE)),
        line(
            tasksHold(),
            "tasks    %,d seen in all passes = %,d with a new stack + %,d unchanged + %,d on a CPU + %,d idle kernel threads"
                + " + %,d failed%s",
            of(Counter.TASK_PASSES),
            of(Counter.WRITTEN),
            of(Counter.UNCHANGED),
            of(Counter.ON_CPU),
            of(Counter.IDLE_KTHREADS),
            failed(),
            failedBy()),
        line(
            samplesHold(),
            "samples  %,d of the CPU clock = %,d placed + %,d without a stack + %,d lost + %,d not fetched",
            of(Counter.CPU_SAMPLES),
            of(Counter.CPU_PLACED),
            of(Counter.CPU_FAILED),
            of(Counter.CPU_DROPPED),
            of(Counter.CPU_WAITING)));
  }

  boolean passesHold() {
    return of(Counter.PASSES_DUE) == of(Counter.PASSES_LATE) + of(Counter.PASSES_MADE);
  }

  boolean tasksHold() {
    return of(Counter.TASK_PASSES)
        == of(Counter.WRITTEN)
            + of(Counter.UNCHANGED)
            + of(Counter.ON_CPU)
            + of(Counter.IDLE_KTHREADS)
            + failed();
  }

  boolean samplesHold() {
    return of(Counter.CPU_SAMPLES)
        == of(Counter.CPU_PLACED)
            + of(Counter.CPU_FAILED)
            + of(Counter.CPU_DROPPED)
            + of(Counter.CPU_WAITING);
  }

  long of(Counter counter) {
    return counters[counter.ordinal()];
  }

  private long failed() {
    return of(Counter.FAILED_MM_BUSY)
        + of(Counter.FAILED_TORN)
        + of(Counter.FAILED_FAULTED)
        + of(Counter.FAILED_EXITED);
  }

  private String failedBy() {
    return failed() == 0
        ? ""
        : String.format(
            Locale.ROOT,
            " (%,d mm busy, %,d torn, %,d faulted, %,d exited)",
            of(Counter.FAILED_MM_BUSY),
            of(Counter.FAILED_TORN),
            of(Counter.FAILED_FAULTED),
            of(Counter.FAILED_EXITED));
  }

  private static String line(boolean holds, String format, Object... figures) {
    return String.format(Locale.ROOT, format, figures)
        + (holds ? "" : " (this does not add up; please report it)");
  }
}
