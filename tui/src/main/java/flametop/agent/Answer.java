package flametop.agent;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;

/**
 * What a store answered, or why it did not.
 *
 * @param fate of the profile
 * @param says for people; empty if all is well
 * @param askedNanos how long the store asks to be left alone; 0: it does not
 * @param rejected profiles within the request that the store left out
 */
record Answer(Fate fate, String says, long askedNanos, long rejected) {
  /** What becomes of a profile. */
  enum Fate {
    SENT,
    /** It is sent again later. */
    KEPT,
    /** It is given up. */
    REFUSED
  }

  private static final int MOST_DIGITS = 9;

  static Answer sent(long rejected) {
    return new Answer(Fate.SENT, "", 0, rejected);
  }

  /** No answer came. */
  static Answer none(String why) {
    return new Answer(Fate.KEPT, why, 0, 0);
  }

  /**
   * An answer of HTTP.
   *
   * @param retryAfter the header of that name; empty if there is none
   * @param says for people
   */
  static Answer of(int status, String retryAfter, String says, Instant now) {
    boolean kept = status >= 500 || status == 408 || status == 429 || status >= 300 && status < 400;
    return kept
        ? new Answer(Fate.KEPT, says, nanos(retryAfter, now), 0)
        : new Answer(Fate.REFUSED, says, 0, 0);
  }

  /** Seconds, or a date; what is neither is 0. */
  private static long nanos(String retryAfter, Instant now) {
    String text = retryAfter.strip();
    if (text.matches("[0-9]{1," + MOST_DIGITS + "}")) {
      return Duration.ofSeconds(Long.parseLong(text)).toNanos();
    }
    try {
      Instant at = ZonedDateTime.parse(text, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      Duration wait = Duration.between(now, at);
      return wait.isNegative() || wait.toDays() > 1 ? 0 : wait.toNanos();
    } catch (DateTimeParseException | ArithmeticException e) {
      return 0;
    }
  }
}
