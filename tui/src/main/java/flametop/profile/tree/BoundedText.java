package flametop.profile.tree;

/**
 * A text that a regular expression may look at only so often: some expressions take time
 * exponential in the length of a name, and names come from outside.
 */
public final class BoundedText implements CharSequence {
  /** The budget is used up. */
  public static final class Exhausted extends RuntimeException {
    private static final long serialVersionUID = 1;

    Exhausted() {
      super("expression too costly", null, false, false);
    }
  }

  private final CharSequence text;
  private final int[] budget;

  /**
   * @param looks how many characters may be looked at in all
   */
  public BoundedText(CharSequence text, int looks) {
    this(text, new int[] {looks});
  }

  private BoundedText(CharSequence text, int[] budget) {
    this.text = text;
    this.budget = budget;
  }

  @Override
  public int length() {
    return text.length();
  }

  @Override
  public char charAt(int index) {
    if (--budget[0] < 0) {
      throw new Exhausted();
    }
    return text.charAt(index);
  }

  @Override
  public CharSequence subSequence(int start, int end) {
    return new BoundedText(text.subSequence(start, end), budget);
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
