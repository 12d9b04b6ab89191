package flametop.sampler;

import java.util.List;
import java.util.stream.Stream;

/** State of a task. */
public final class State extends OpenEnum {
  private static final Maker<State> MAKER = new Maker<>(State::new);

  private static final String LETTERS = "RRSDTZPI?";

  /** On a CPU. */
  public static final State RUN = MAKER.next("run");

  /** Runnable, waiting for a CPU. */
  public static final State QUEUED = MAKER.next("queued");

  /** Interruptible sleep (S). */
  public static final State SLEEP = MAKER.next("asleep");

  /** Uninterruptible sleep (D). */
  public static final State DISK = MAKER.next("disk");

  /** Stopped or traced (T). */
  public static final State STOPPED = MAKER.next("stopped");

  /** Zombie (Z). */
  public static final State ZOMBIE = MAKER.next("zombie");

  /** Parked kernel thread (P). */
  public static final State PARKED = MAKER.next("parked");

  /** Idle kernel thread (I): counted, never shown. */
  public static final State IDLE_KTHREAD = MAKER.next("idle");

  /** Stands for all unknown states, where time is summed up by state. */
  public static final State OTHER = MAKER.other();

  private static final List<State> BY_NUMBER = MAKER.byNumber("state");

  private static final State[] VALUES =
      Stream.concat(BY_NUMBER.stream().filter(State::isKnown), Stream.of(OTHER))
          .toArray(State[]::new);

  private State(int number, int known, String word) {
    super(number, known, word);
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
    return word;
  }
}
