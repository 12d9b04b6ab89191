package flametop.sampler;

/**
 * Counters of the stream, totals since it began; the ordinals are their places in the
 * <i>counters</i> record.
 *
 * <p>Identities: {@code PASSES_DUE = PASSES_LATE + PASSES_MADE}; {@code TASK_PASSES = WRITTEN +
 * UNCHANGED + ON_CPU + IDLE_KTHREADS + FAILED_*}; {@code CPU_SAMPLES = CPU_PLACED + CPU_FAILED +
 * CPU_DROPPED + CPU_WAITING}.
 */
public enum Counter {
  PASSES_DUE,
  PASSES_LATE,
  PASSES_MADE,
  TASK_PASSES,
  WRITTEN,
  UNCHANGED,
  ON_CPU,
  IDLE_KTHREADS,
  FAILED_MM_BUSY,
  FAILED_TORN,
  FAILED_FAULTED,
  FAILED_EXITED,
  TASKS,
  CPU_SAMPLES,
  CPU_PLACED,
  CPU_FAILED,
  CPU_DROPPED,
  CPU_WAITING,
  WALKED,
  SHORT,
  LIFE_DROPPED,
  BYTES_COPIED,
  PROGRAM_NANOS,
  DEBUG_WANTED,
  DEBUG_CACHED,
  DEBUG_FETCHED,
  DEBUG_ABSENT,
  DEBUG_FAILED,
  DEBUG_BYTES,

  /**
   * Ticks of the CPU clock that were due and did not come, or found another BPF program running.
   */
  TICKS_MISSED
}
