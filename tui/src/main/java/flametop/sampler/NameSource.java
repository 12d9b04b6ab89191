package flametop.sampler;

import java.util.List;

/** Where a name comes from. */
public final class NameSource extends OpenEnum {
  private static final Maker<NameSource> MAKER = new Maker<>(NameSource::new);

  public static final NameSource SYMBOL = MAKER.next("symbol");
  public static final NameSource FUNCTION_START = MAKER.next("function start");
  public static final NameSource UNKNOWN = MAKER.next("unknown");
  public static final NameSource ROOT = MAKER.next("root");

  /** The frame is none: its name says why the outer part of the stack is missing. */
  public static final NameSource REASON = MAKER.next("reason");

  /** No symbol, since the file, process or user has more to read than there is a budget for. */
  public static final NameSource LIMIT = MAKER.next("limit");

  private static final List<NameSource> BY_NUMBER = MAKER.byNumber("source");

  private NameSource(int number, int known, String word) {
    super(number, known, word);
  }

  /** The source with this number in the stream, 0 to 255. */
  public static NameSource of(int number) {
    return BY_NUMBER.get(number);
  }
}
