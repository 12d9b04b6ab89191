package flametop.sampler;

import java.util.Arrays;

/**
 * State of a task. The stream gives it as a number, and a later version of flametop may give a
 * number that this one does not know: such a state is known by its number only, and all of them
 * share one {@link #ordinal()}.
 */
public final class State {
  private static final State[] BY_NUMBER = new State[256];

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

  private static final int KNOWN = 8;

  /** Stands for all states that are not known, where time is summed up by state. */
  public static final State OTHER;

  private static final State[] VALUES;

  static {
    for (int number = KNOWN; number < BY_NUMBER.length; number++) {
      BY_NUMBER[number] = new State(number, "state " + number);
    }
    OTHER = new State(BY_NUMBER.length, "other");
    VALUES = Arrays.copyOf(BY_NUMBER, KNOWN + 1);
    VALUES[KNOWN] = OTHER;
  }

  private final int number;
  private final String label;

  private State(int number, String label) {
    this.number = number;
    this.label = label;
    if (number < BY_NUMBER.length) {
      BY_NUMBER[number] = this;
    }
  }

  /** The state with this number in the stream, 0 to 255. */
  public static State of(int number) {
    return BY_NUMBER[number];
  }

  /** The known states and {@link #OTHER}, by their {@link #ordinal()}. */
  public static State[] values() {
    return VALUES.clone();
  }

  /** The number in the stream. */
  public int number() {
    return number;
  }

  public boolean isKnown() {
    return number < KNOWN;
  }

  /** The place in {@link #values()}. */
  public int ordinal() {
    return Math.min(number, KNOWN);
  }

  /** The word on the screen. */
  public String label() {
    return label;
  }

  @Override
  public String toString() {
    return label;
  }
}
