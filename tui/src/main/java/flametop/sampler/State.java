package flametop.sampler;

import java.util.List;

/** State of a task. */
public final class State extends OpenEnum {
  private static final int KNOWN = 8;

  private static final String LETTERS = "RRSDTZPI?";

  /** On a CPU. */
  public static final State RUN = new State(0, "run");

  /** Runnable, waiting for a CPU. */
  public static final State QUEUED = new State(1, "queued");

  /** Interruptible sleep (S). */
  public static final State SLEEP = new State(2, "asleep");

  /** Uninterruptible sleep (D). */
  public static final State DISK = new State(3, "disk");

  /** Stopped or traced (T). */
  public static final State STOPPED = new State(4, "stopped");

  /** Zombie (Z). */
  public static final State ZOMBIE = new State(5, "zombie");

  /** Parked kernel thread (P). */
  public static final State PARKED = new State(6, "parked");

  /** Idle kernel thread (I): counted, never shown. */
  public static final State IDLE_KTHREAD = new State(7, "idle");

  private static final List<State> BY_NUMBER =
      byNumber(
          number -> new State(number, "state " + number),
          RUN,
          QUEUED,
          SLEEP,
          DISK,
          STOPPED,
          ZOMBIE,
          PARKED,
          IDLE_KTHREAD);

  /** Stands for all unknown states, where time is summed up by state. */
  public static final State OTHER = new State(BY_NUMBER.size(), "other");

  private static final State[] VALUES = BY_NUMBER.subList(0, KNOWN + 1).toArray(State[]::new);

  static {
    VALUES[KNOWN] = OTHER;
  }

  private State(int number, String label) {
    super(number, KNOWN, label);
  }

  /** The state with this number in the stream, 0 to 255. */
  public static State of(int number) {
    return BY_NUMBER.get(number);
  }

  /** The known states and {@link #OTHER}, by their {@link #ordinal()}. */
  public static State[] values() {
    return VALUES.clone();
  }

  /** The kernel's letter: of a task that waits for a CPU also {@code R}, of others {@code ?}. */
  public char letter() {
    return LETTERS.charAt(ordinal());
  }

  /** The word on the screen. */
  public String label() {
    return word();
  }
}
