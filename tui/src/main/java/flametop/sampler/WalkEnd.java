package flametop.sampler;

import java.util.Arrays;

/**
 * How the walk of a stack ended. All but {@link #ROOT} are reasons why a stack is short. The stream
 * gives it as a number; one that this version of flametop does not know is known by its number
 * only, and all of these share one {@link #ordinal()}.
 */
public final class WalkEnd {
  private static final WalkEnd[] BY_NUMBER = new WalkEnd[256];

  public static final WalkEnd ROOT = new WalkEnd(0, "");
  public static final WalkEnd TRUNCATED = new WalkEnd(1, "truncated");
  public static final WalkEnd OTHER_STACK = new WalkEnd(2, "other stack");
  public static final WalkEnd NO_UNWIND_INFO = new WalkEnd(3, "no unwind info");
  public static final WalkEnd JIT = new WalkEnd(4, "jit without frame pointers");
  public static final WalkEnd MM_BUSY = new WalkEnd(5, "mm busy");
  public static final WalkEnd TORN = new WalkEnd(6, "torn");
  public static final WalkEnd FAULTED = new WalkEnd(7, "faulted");
  public static final WalkEnd EXITED = new WalkEnd(8, "exited");
  public static final WalkEnd LIMIT = new WalkEnd(9, "limit");
  public static final WalkEnd UNREADABLE = new WalkEnd(10, "file not readable");
  public static final WalkEnd NARROW = new WalkEnd(11, "32-bit code");
  public static final WalkEnd ABSENT = new WalkEnd(12, "not in memory");

  private static final int KNOWN = 13;

  /** Stands for all reasons that are not known, where stacks are counted by reason. */
  public static final WalkEnd OTHER;

  private static final WalkEnd[] VALUES;

  static {
    for (int number = KNOWN; number < BY_NUMBER.length; number++) {
      BY_NUMBER[number] = new WalkEnd(number, "reason " + number);
    }
    OTHER = new WalkEnd(BY_NUMBER.length, "other");
    VALUES = Arrays.copyOf(BY_NUMBER, KNOWN + 1);
    VALUES[KNOWN] = OTHER;
  }

  private final int number;
  private final String reason;

  private WalkEnd(int number, String reason) {
    this.number = number;
    this.reason = reason;
    if (number < BY_NUMBER.length) {
      BY_NUMBER[number] = this;
    }
  }

  /** The end with this number in the stream, 0 to 255. */
  public static WalkEnd of(int number) {
    return BY_NUMBER[number];
  }

  /** The known ends and {@link #OTHER}, by their {@link #ordinal()}. */
  public static WalkEnd[] values() {
    return VALUES.clone();
  }

  /** The ends of all numbers that the stream can give. */
  public static WalkEnd[] all() {
    return BY_NUMBER.clone();
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

  /** The reason as it stands in a reason frame, without brackets; empty for {@link #ROOT}. */
  public String reason() {
    return reason;
  }

  @Override
  public String toString() {
    return reason.isEmpty() ? "root" : reason;
  }
}
