package flametop.sampler;

/** State of a task; the ordinals are the numbers of the stream. */
public enum State {
  /** On a CPU. */
  RUN("run"),
  /** Runnable, waiting for a CPU. */
  QUEUED("queued"),
  /** Interruptible sleep (S). */
  SLEEP("asleep"),
  /** Uninterruptible sleep (D). */
  DISK("disk"),
  /** Stopped or traced (T). */
  STOPPED("stopped"),
  /** Zombie (Z). */
  ZOMBIE("zombie"),
  /** Parked kernel thread (P). */
  PARKED("parked"),
  /** Idle kernel thread (I): counted, never shown. */
  IDLE_KTHREAD("idle");

  private static final State[] ALL = values();

  private final String label;

  State(String label) {
    this.label = label;
  }

  /** The word on the screen. */
  public String label() {
    return label;
  }

  /**
   * The state with this number in the stream; throws {@link IllegalArgumentException} for an
   * unknown one.
   */
  public static State of(int number) {
    if (number < 0 || number >= ALL.length) {
      throw new IllegalArgumentException("unknown state=" + number);
    }
    return ALL[number];
  }
}
