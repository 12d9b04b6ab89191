package flametop.sampler;

import java.util.List;

/** The unit of the weight of an event. */
public final class SourceUnit extends OpenEnum {
  private static final int KNOWN = 4;

  /** Events, or another plain number. */
  public static final SourceUnit COUNT = new SourceUnit(0, "events");

  public static final SourceUnit BYTES = new SourceUnit(1, "bytes");
  public static final SourceUnit NANOS = new SourceUnit(2, "ns");

  /** ns of waits, which exports tell in µs. */
  public static final SourceUnit WAITS = new SourceUnit(3, "ns of waits");

  private static final List<SourceUnit> BY_NUMBER =
      byNumber(number -> new SourceUnit(number, "unit " + number), COUNT, BYTES, NANOS, WAITS);

  private SourceUnit(int number, String word) {
    super(number, KNOWN, word);
  }

  /** The unit with this number in the stream, 0 to 255. */
  public static SourceUnit of(int number) {
    return BY_NUMBER.get(number);
  }
}
