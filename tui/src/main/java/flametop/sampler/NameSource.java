package flametop.sampler;

/**
 * Where a name comes from. The stream gives it as a number; one that this version of flametop does
 * not know is known by its number only.
 */
public final class NameSource {
  private static final NameSource[] BY_NUMBER = new NameSource[256];

  public static final NameSource SYMBOL = new NameSource(0);
  public static final NameSource FUNCTION_START = new NameSource(1);
  public static final NameSource UNKNOWN = new NameSource(2);
  public static final NameSource ROOT = new NameSource(3);

  /** No frame: says why the outer part of the stack is missing. */
  public static final NameSource REASON = new NameSource(4);

  private static final int KNOWN = 5;

  static {
    for (int number = KNOWN; number < BY_NUMBER.length; number++) {
      BY_NUMBER[number] = new NameSource(number);
    }
  }

  private final int number;

  private NameSource(int number) {
    this.number = number;
    BY_NUMBER[number] = this;
  }

  /** The one with this number in the stream, 0 to 255. */
  public static NameSource of(int number) {
    return BY_NUMBER[number];
  }

  /** The number in the stream. */
  public int number() {
    return number;
  }

  public boolean isKnown() {
    return number < KNOWN;
  }

  @Override
  public String toString() {
    return "source " + number;
  }
}
