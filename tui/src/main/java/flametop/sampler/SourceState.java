package flametop.sampler;

import java.util.List;

/** The state of a source of events. */
public final class SourceState extends OpenEnum {
  private static final Maker<SourceState> MAKER = new Maker<>(SourceState::new);

  /** The source counts, and copies stacks. */
  public static final SourceState ON = MAKER.next("on");

  /** The user switched it off. */
  public static final SourceState OFF = MAKER.next("off");

  /** The source cannot be had, or has ended. */
  public static final SourceState MISSING = MAKER.next("missing");

  /** The files that the source is in are looked into, or the kernel attaches the source. */
  public static final SourceState OPENING = MAKER.next("opening");

  private static final List<SourceState> BY_NUMBER = MAKER.byNumber("state");

  private SourceState(int number, int known, String word) {
    super(number, known, word);
  }

  /** The state with this number in the stream, 0 to 255. */
  public static SourceState of(int number) {
    return BY_NUMBER.get(number);
  }
}
