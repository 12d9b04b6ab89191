package flametop.view.state;

/**
 * The answer to a key, in words.
 *
 * @param text empty if the picture is the answer
 * @param trouble whether the answer is about a failure
 * @param times how often the same answer came in a row
 */
public record Said(String text, boolean trouble, int times) {
  static final Said NOTHING = new Said("", false, 1);

  /** The same, counted, if the answer {@code before} had the same words. */
  Said after(Said before) {
    return text.isEmpty() || !text.equals(before.text)
        ? this
        : new Said(text, trouble, before.times + 1);
  }

  /**
   * The words with a count of their repetitions. Without the count, a second equal answer would
   * look like none.
   */
  public String counted() {
    return times > 1 ? text + " ×" + times : text;
  }
}
