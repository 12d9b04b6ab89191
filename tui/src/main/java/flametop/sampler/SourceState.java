package flametop.sampler;

import java.util.List;

/** The state of a source of events. */
public final class SourceState extends OpenEnum {
  private static final int KNOWN = 4;

  /** The source counts, and copies stacks. */
  public static final SourceState ON = new SourceState(0, "on");

  /** The user switched it off. */
  public static final SourceState OFF = new SourceState(1, "off");

  /** The source cannot be had, or has ended. */
  public static final SourceState MISSING = new SourceState(2, "missing");

  /** The files that the source is in are looked into, or the kernel attaches the source. */
  public static final SourceState OPENING = new SourceState(3, "opening");

  private static final List<SourceState> BY_NUMBER =
      byNumber(number -> new SourceState(number, "state " + number), ON, OFF, MISSING, OPENING);

  private SourceState(int number, String word) {
    super(number, KNOWN, word);
  }

  /** The state with this number in the stream, 0 to 255. */
  public static SourceState of(int number) {
    return BY_NUMBER.get(number);
  }
}
