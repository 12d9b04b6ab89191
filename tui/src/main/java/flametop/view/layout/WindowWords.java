package flametop.view.layout;

import flametop.profile.answer.Snapshot;
import flametop.profile.answer.TimeRange;
import flametop.view.state.ViewState;
import flametop.view.state.Windows;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.OptionalLong;

/** The window in words. */
public final class WindowWords {
  private static final DateTimeFormatter CLOCK =
      DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);
  private static final DateTimeFormatter FINE =
      DateTimeFormatter.ofPattern("HH:mm:ss.SS", Locale.ROOT);

  private WindowWords() {}

  /** {@code 30 s}, {@code all} or {@code since 14:03:07}. */
  public static String brief(Scene scene, ViewState state) {
    OptionalLong since = state.moment().since();
    return since.isPresent()
        ? "since " + CLOCK.format(wall(scene.snapshot, since.getAsLong()))
        : Windows.label(state.moment());
  }

  /** {@code the last 30 s}, {@code all since the start} or {@code all since 14:03:07}. */
  public static String full(Scene scene, ViewState state) {
    return isLast(state)
        ? "the last " + Windows.label(state.moment())
        : "all " + within(scene, state);
  }

  /** {@code in the last 30 s}, {@code since the start} or {@code since 14:03:07}. */
  public static String within(Scene scene, ViewState state) {
    return isLast(state)
        ? "in the last " + Windows.label(state.moment())
        : state.moment().isAll() ? "since the start" : brief(scene, state);
  }

  private static boolean isLast(ViewState state) {
    return !state.moment().isAll() && state.moment().since().isEmpty();
  }

  /** What the clock on the wall said at both ends of a range: {@code 14:03:07.40 to .42}. */
  public static String clocks(Snapshot snapshot, TimeRange range) {
    String from = FINE.format(wall(snapshot, range.from()));
    String to = FINE.format(wall(snapshot, range.to()));
    int point = from.indexOf('.');
    boolean same = to.startsWith(from.substring(0, point));
    return from + " to " + (same ? to.substring(point) : to);
  }

  /**
   * What the clock on the wall said at a time.
   *
   * @param time ns, CLOCK_MONOTONIC
   */
  private static ZonedDateTime wall(Snapshot snapshot, long time) {
    long wall = time + snapshot.live().time().past().wallNanos();
    return Instant.ofEpochSecond(0, wall).atZone(ZoneId.systemDefault());
  }
}
