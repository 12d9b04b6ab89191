package flametop.sampler;

/**
 * How the walk of a stack ended; the ordinals are the numbers of the stream. All but {@link #ROOT}
 * are reasons why a stack is short.
 */
public enum WalkEnd {
  ROOT(""),
  TRUNCATED("truncated"),
  OTHER_STACK("other stack"),
  NO_UNWIND_INFO("no unwind info"),
  JIT("jit without frame pointers"),
  MM_BUSY("mm busy"),
  TORN("torn"),
  FAULTED("faulted"),
  EXITED("exited"),
  LIMIT("limit"),
  UNREADABLE("file not readable"),
  NARROW("32-bit code"),
  ABSENT("not in memory");

  private static final WalkEnd[] ALL = values();

  private final String reason;

  WalkEnd(String reason) {
    this.reason = reason;
  }

  /** The reason as it stands in a reason frame, without brackets; empty for {@link #ROOT}. */
  public String reason() {
    return reason;
  }

  /**
   * The end with this number in the stream; throws {@link IllegalArgumentException} for an unknown
   * one.
   */
  public static WalkEnd of(int number) {
    if (number < 0 || number >= ALL.length) {
      throw new IllegalArgumentException("unknown end of walk=" + number);
    }
    return ALL[number];
  }
}
