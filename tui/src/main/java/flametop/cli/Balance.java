package flametop.cli;

import flametop.sampler.Counter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The three sums by which nothing is lost in silence: of passes, of tasks × passes, and of samples.
 */
record Balance(long[] counters) {
  /**
   * A line for each sum: the passes that were due are the late ones and those that were made, and
   * so on.
   */
  List<String> lines() {
    long failed =
        of(Counter.FAILED_MM_BUSY)
            + of(Counter.FAILED_TORN)
            + of(Counter.FAILED_FAULTED)
            + of(Counter.FAILED_EXITED);
    return List.of(
        line(
            "passes   %,d due = %,d made + %,d late",
            "", of(Counter.PASSES_DUE), of(Counter.PASSES_MADE), of(Counter.PASSES_LATE)),
        line(
            "tasks    %,d seen in all passes = %,d with a new stack + %,d unchanged + %,d on a CPU + %,d idle kernel threads"
                + " + %,d failed",
            failed == 0 ? "" : failedBy(),
            of(Counter.TASK_PASSES),
            of(Counter.WRITTEN),
            of(Counter.UNCHANGED),
            of(Counter.ON_CPU),
            of(Counter.IDLE_KTHREADS),
            failed),
        line(
            "samples  %,d of the CPU clock = %,d placed + %,d without a stack + %,d lost + %,d not fetched",
            "",
            of(Counter.CPU_SAMPLES),
            of(Counter.CPU_PLACED),
            of(Counter.CPU_FAILED),
            of(Counter.CPU_DROPPED),
            of(Counter.CPU_WAITING)));
  }

  long of(Counter counter) {
    return counters[counter.ordinal()];
  }

  private String failedBy() {
    return String.format(
        Locale.ROOT,
        " (%,d mm busy, %,d torn, %,d faulted, %,d exited)",
        of(Counter.FAILED_MM_BUSY),
        of(Counter.FAILED_TORN),
        of(Counter.FAILED_FAULTED),
        of(Counter.FAILED_EXITED));
  }

  /**
   * @param figures a sum, and its parts
   */
  private static String line(String format, String more, Long... figures) {
    long parts = Stream.of(figures).skip(1).mapToLong(figure -> figure).sum();
    return String.format(Locale.ROOT, format, (Object[]) figures)
        + more
        + (figures[0] == parts ? "" : " (this does not add up; please report it)");
  }
}
