package flametop.term;

/**
 * When the source is asked for a picture: after each refresh, and as soon as somebody pressed a key
 * that asks for another, but never while an answer is under way. All times are ns of a clock that
 * only goes forward.
 */
final class Asking {
  /** How long a key waits for what it asks, so that it is answered by one picture and not two. */
  static final long ANSWER_NANOS = 15_000_000L;

  /** How long it is waited where nothing is due: what is to come is told of. */
  private static final long IDLE_NANOS = 1_000_000_000L;

  private static final long NEVER_NANOS = 10_000L * 24 * 60 * 60 * 1_000_000_000L;

  private boolean asked;
  private boolean again;
  private long next;

  /** Until then nothing is painted while an answer is awaited. */
  private long answerBy;

  Asking(long now) {
    next = now;
    answerBy = now;
  }

  /** What is here is not what is wanted: the source is asked as soon as it has answered. */
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
   * The source is asked now.
   *
   * @param pause ns until it is asked again, if it has answered by then
   */
  void asked(long now, long pause) {
    asked = true;
    again = false;
    next = now + pause;
  }

  /**
   * It has answered.
   *
   * @param last whether nothing else will come, unless somebody asks for it
   */
  void answered(long now, boolean last) {
    asked = false;
    if (last && !again) {
      next = now + NEVER_NANOS;
    }
  }

  /** Whether a picture of before is not worth painting, since the answer to a key is near. */
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
