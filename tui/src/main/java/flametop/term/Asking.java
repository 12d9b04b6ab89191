package flametop.term;

/**
 * Decides when to ask the source for a picture: after each refresh time, and soon after a key that
 * needs another picture, but never before the answer to the last question. All times are ns of a
 * clock that only goes forward.
 */
final class Asking {
  /** How long a key waits for its picture, so that one picture answers the key and not two. */
  static final long ANSWER_NANOS = 15_000_000L;

  /** The pause when nothing is due: events end it early. */
  private static final long IDLE_NANOS = 1_000_000_000L;

  private static final long NEVER_NANOS = 10_000L * 24 * 60 * 60 * 1_000_000_000L;

  private boolean asked;
  private boolean again;
  private long next;

  /** Until this time nothing is painted, if an answer is awaited. */
  private long answerBy;

  Asking(long now) {
    next = now;
    answerBy = now;
  }

  /** The picture is not the wanted one: the next question follows right after the answer. */
  void soon(long now) {
    next = now;
    again = asked;
  }

  /** Like {@link #soon}, and {@link #isAwaiting} for a moment. */
  void forKey(long now) {
    soon(now);
    answerBy = now + ANSWER_NANOS;
  }

  boolean isDue(long now) {
    return !asked && (again || now - next >= 0);
  }

  /**
   * A question goes to the source now.
   *
   * @param pause ns until the next question, if the answer has come by then
   */
  void asked(long now, long pause) {
    asked = true;
    again = false;
    next = now + pause;
  }

  /**
   * The answer came.
   *
   * @param last whether nothing changes any more, unless a key asks for it
   */
  void answered(long now, boolean last) {
    asked = false;
    if (last && !again) {
      next = now + NEVER_NANOS;
    }
  }

  /** Whether an older picture is not worth painting, since the answer to a key is near. */
  boolean isAwaiting(long now) {
    return asked && now - answerBy < 0;
  }

  /** How long {@link #isAwaiting} may hold. */
  long untilAnswer(long now) {
    return Math.max(0, answerBy - now);
  }

  /** How long there is nothing to ask. */
  long untilDue(long now) {
    return asked ? IDLE_NANOS : Math.max(0, next - now);
  }
}
