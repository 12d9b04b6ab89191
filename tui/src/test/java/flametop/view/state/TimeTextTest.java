package flametop.view.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import flametop.profile.answer.TimeRange;
import java.time.ZoneId;
import java.time.ZoneOffset;
import org.junit.jupiter.api.Test;

class TimeTextTest {
  private static final long SECOND = 1_000_000_000L;
  private static final long NOW = 50_000 * SECOND;

  /** At NOW the clock on the wall shows 14:10:00, in UTC. */
  private static final long WALL = (1_700_000_000L / 86_400 * 86_400 + 51_000) * SECOND - NOW;

  private static TimeRange read(String text) {
    return TimeText.read(text, NOW, WALL, ZoneOffset.UTC);
  }

  private static TimeRange ago(long from, long to) {
    return new TimeRange(NOW - from * SECOND, NOW - to * SECOND);
  }

  @Test
  void read_clockOnTheWall_isTheLastSuchMinuteOrSecond() {
    assertEquals(ago(420, 360), read("14:03"));
    assertEquals(ago(420, 360), read(" 14:03 "));
    assertEquals(ago(400, 399), read("14:03:20"));
    assertEquals(ago(86_400 - 60, 86_400 - 120), read("14:11"), "that was yesterday");
    assertEquals(ago(10 * 60 + 3_600, 9 * 60 + 3_600), read("13:00"));
    TimeRange there = TimeText.read("15:03", NOW, WALL, ZoneId.of("Europe/Berlin"));
    assertEquals(ago(420, 360), there);
  }

  @Test
  void read_ago_isAMinuteOrASecond() {
    assertEquals(ago(180, 120), read("-3m"));
    assertEquals(ago(180, 120), read("-3 min"));
    assertEquals(ago(90, 89), read("-90s"));
    assertEquals(ago(3_600, 3_540), read("-1h"));
  }

  @Test
  void read_two_isFromTheOneToTheOther() {
    assertEquals(ago(420, 300), read("14:03-14:05"));
    assertEquals(ago(420, 300), read("14:03 .. 14:05"));
    assertEquals(ago(300, 180), read("-5m..-3m"));
    assertEquals(ago(300, 285), read("14:05:00-14:05:15"));
  }

  @Test
  void read_noTime_isNull() {
    String none =
        "|-|3m|25:00|14:60|14:03:61|-3|-3d|14|14:05-14:03|..|x|-99999999999m|14:03-|-0s..-0s|٣:٠٣";
    for (String text : none.split("\\|")) {
      assertNull(read(text), text);
    }
  }
}
