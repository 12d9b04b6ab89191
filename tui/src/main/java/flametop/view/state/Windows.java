package flametop.view.state;

import flametop.profile.answer.Moment;
import java.util.Arrays;

/** The windows that a key goes through, from the shortest to all since the start. */
public final class Windows {
  private static final long[] NANOS = {
    10_000_000_000L, 30_000_000_000L, 300_000_000_000L, Long.MAX_VALUE
  };

  private static final String[] LABELS = {"10 s", "30 s", "5 min", "all"};

  /** The window that the screen starts with, up to the present. */
  static final Moment FIRST = Moment.last(NANOS[1]);

  private Windows() {}

  /**
   * The same moment with the next longer window; after the longest the shortest. After a window
   * that began when the user said so, the window before that.
   */
  public static Moment next(Moment moment) {
    return moment.since().isPresent()
        ? moment.withoutSince()
        : moment.withWindow(NANOS[(index(moment) + 1) % NANOS.length]);
  }

  /** The window in short, where {@link Moment#since} does not say when it begins: {@code 30 s}. */
  public static String label(Moment moment) {
    return LABELS[index(moment)];
  }

  private static int index(Moment moment) {
    return Arrays.binarySearch(NANOS, moment.windowNanos());
  }
}
