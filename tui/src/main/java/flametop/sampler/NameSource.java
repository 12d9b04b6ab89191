package flametop.sampler;

import java.util.List;

/** Where a name comes from. */
public final class NameSource extends OpenEnum {
  private static final int KNOWN = 6;

  public static final NameSource SYMBOL = new NameSource(0);
  public static final NameSource FUNCTION_START = new NameSource(1);
  public static final NameSource UNKNOWN = new NameSource(2);
  public static final NameSource ROOT = new NameSource(3);

  /** The frame is none: its name says why the outer part of the stack is missing. */
  public static final NameSource REASON = new NameSource(4);

  /** No symbol, since the file, process or user has more to read than there is a budget for. */
  public static final NameSource LIMIT = new NameSource(5);

  private static final List<NameSource> BY_NUMBER =
      byNumber(NameSource::new, SYMBOL, FUNCTION_START, UNKNOWN, ROOT, REASON, LIMIT);

  private NameSource(int number) {
    super(number, KNOWN, "source " + number);
  }

  /** The source with this number in the stream, 0 to 255. */
  public static NameSource of(int number) {
    return BY_NUMBER.get(number);
  }
}
