package flametop.sampler;

import java.util.List;

/** How the walk of a stack ended. All but {@link #ROOT} are reasons why a stack is short. */
public final class WalkEnd extends OpenEnum {
  private static final int KNOWN = 13;

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

  private static final List<WalkEnd> BY_NUMBER =
      byNumber(
          number -> new WalkEnd(number, "reason " + number),
          ROOT,
          TRUNCATED,
          OTHER_STACK,
          NO_UNWIND_INFO,
          JIT,
          MM_BUSY,
          TORN,
          FAULTED,
          EXITED,
          LIMIT,
          UNREADABLE,
          NARROW,
          ABSENT);

  /** Stands for all unknown reasons, where stacks are counted by reason. */
  public static final WalkEnd OTHER = new WalkEnd(BY_NUMBER.size(), "other");

  private static final WalkEnd[] VALUES = BY_NUMBER.subList(0, KNOWN + 1).toArray(WalkEnd[]::new);

  static {
    VALUES[KNOWN] = OTHER;
  }

  private WalkEnd(int number, String reason) {
    super(number, KNOWN, reason);
  }

  /** The end with this number in the stream, 0 to 255. */
  public static WalkEnd of(int number) {
    return BY_NUMBER.get(number);
  }

  /** The known ends and {@link #OTHER}, by their {@link #ordinal()}. */
  public static WalkEnd[] values() {
    return VALUES.clone();
  }

  /** The ends of all numbers that the stream can give. */
  public static List<WalkEnd> all() {
    return BY_NUMBER;
  }

  /** The reason as it stands in a reason frame, without brackets; empty for {@link #ROOT}. */
  public String reason() {
    return word();
  }

  @Override
  public String toString() {
    return reason().isEmpty() ? "root" : reason();
  }
}
