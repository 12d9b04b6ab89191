package flametop.view.state;

import flametop.profile.answer.TimeRange;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A moment or a range of the past as a user types it: {@code 14:03} and {@code 14:03:20} by the
 * clock on the wall, {@code -3m} and {@code -90s} before now, and two of them as a range: {@code
 * 14:03-14:05}, {@code -5m..-3m}. A moment is as long as its last unit: a minute or a second.
 */
public final class TimeText {
  private static final long SECOND = 1_000_000_000L;
  private static final long MINUTE = 60 * SECOND;
  private static final Pattern CLOCK = Pattern.compile("([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?");
  private static final Pattern AGO = Pattern.compile("-([0-9]{1,5}) ?(s|m|min|h)");
  private static final Pattern RANGE =
      Pattern.compile("(-?[^-.]+?) *(?:\\.\\.|-(?=[0-9]+:)) *(-?[^-.]+)");

  private TimeText() {}

  /**
   * Reads a text.
   *
   * @param now ns, CLOCK_MONOTONIC
   * @param wallNanos ns from that clock to the one on the wall
   * @return null if the text is no time, or one that is still to come
   */
  public static @Nullable TimeRange read(String text, long now, long wallNanos, ZoneId zone) {
    String said = text.strip();
    Matcher range = RANGE.matcher(said);
    boolean two = range.matches();
    TimeRange from = moment(two ? range.group(1) : said, now, wallNanos, zone);
    TimeRange to = two ? moment(range.group(2), now, wallNanos, zone) : from;
    if (from == null || to == null) {
      return null;
    }
    // A range ends where its second moment begins.
    long end = Math.min(now, two ? to.from() : to.to());
    return from.from() < end ? new TimeRange(from.from(), end) : null;
  }

  private static @Nullable TimeRange moment(String text, long now, long wallNanos, ZoneId zone) {
    Matcher ago = AGO.matcher(text);
    if (ago.matches()) {
      long unit =
          switch (ago.group(2)) {
            case "s" -> SECOND;
            case "h" -> 60 * MINUTE;
            default -> MINUTE;
          };
      long from = now - Long.parseLong(ago.group(1)) * unit;
      return new TimeRange(from, from + Math.min(unit, MINUTE));
    }
    Matcher clock = CLOCK.matcher(text);
    return clock.matches() ? onTheWall(clock, now, wallNanos, zone) : null;
  }

  /** The last time before now at which the clock on the wall showed this. */
  private static @Nullable TimeRange onTheWall(
      Matcher clock, long now, long wallNanos, ZoneId zone) {
    String seconds = clock.group(3);
    try {
      LocalTime time =
          LocalTime.of(
              Integer.parseInt(clock.group(1)),
              Integer.parseInt(clock.group(2)),
              seconds == null ? 0 : Integer.parseInt(seconds));
      long wall = now + wallNanos;
      ZonedDateTime today =
          Instant.ofEpochSecond(Math.floorDiv(wall, SECOND), Math.floorMod(wall, SECOND))
              .atZone(zone);
      ZonedDateTime at = today.with(time);
      ZonedDateTime last = at.isAfter(today) ? at.minusDays(1) : at;
      long from = last.toEpochSecond() * SECOND - wallNanos;
      return new TimeRange(from, from + (seconds == null ? MINUTE : SECOND));
    } catch (DateTimeException e) {
      return null;
    }
  }
}
