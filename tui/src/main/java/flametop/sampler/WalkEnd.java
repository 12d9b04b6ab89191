package flametop.sampler;

import java.util.List;
import java.util.stream.Stream;

/** How the walk of a stack ended. All but {@link #ROOT} are reasons why a stack is short. */
public final class WalkEnd extends OpenEnum {
  private static final Maker<WalkEnd> MAKER = new Maker<>(WalkEnd::new);

  public static final WalkEnd ROOT = MAKER.next("");
  public static final WalkEnd TRUNCATED = MAKER.next("truncated");
  public static final WalkEnd OTHER_STACK = MAKER.next("other stack");
  public static final WalkEnd NO_UNWIND_INFO = MAKER.next("no unwind info");
  public static final WalkEnd JIT = MAKER.next("jit without frame pointers");
  public static final WalkEnd MM_BUSY = MAKER.next("mm busy");
  public static final WalkEnd TORN = MAKER.next("torn");
  public static final WalkEnd FAULTED = MAKER.next("faulted");
  public static final WalkEnd EXITED = MAKER.next("exited");
  public static final WalkEnd LIMIT = MAKER.next("limit");
  public static final WalkEnd UNREADABLE = MAKER.next("file not readable");
  public static final WalkEnd NARROW = MAKER.next("32-bit code");
  public static final WalkEnd ABSENT = MAKER.next("not in memory");

  /** Stands for all unknown reasons, where stacks are counted by reason. */
  public static final WalkEnd OTHER = MAKER.other();

  private static final List<WalkEnd> BY_NUMBER = MAKER.byNumber("reason");

  private static final WalkEnd[] VALUES =
      Stream.concat(BY_NUMBER.stream().filter(WalkEnd::isKnown), Stream.of(OTHER))
          .toArray(WalkEnd[]::new);

  private WalkEnd(int number, int known, String word) {
    super(number, known, word);
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
    return word;
  }

  @Override
  public String toString() {
    return reason().isEmpty() ? "root" : reason();
  }
}
