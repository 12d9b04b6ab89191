package flametop.sampler;

import java.util.List;

/** The unit of the weight of an event. */
public final class SourceUnit extends OpenEnum {
  private static final Maker<SourceUnit> MAKER = new Maker<>(SourceUnit::new);

  /** Events, or another plain number. */
  public static final SourceUnit COUNT = MAKER.next("events");

  public static final SourceUnit BYTES = MAKER.next("bytes");
  public static final SourceUnit NANOS = MAKER.next("ns");

  /** ns of waits, which exports tell in µs. */
  public static final SourceUnit WAITS = MAKER.next("ns of waits");

  private static final List<SourceUnit> BY_NUMBER = MAKER.byNumber("unit");

  private SourceUnit(int number, int known, String word) {
    super(number, known, word);
  }

  /** The unit with this number in the stream, 0 to 255. */
  public static SourceUnit of(int number) {
    return BY_NUMBER.get(number);
  }
}
