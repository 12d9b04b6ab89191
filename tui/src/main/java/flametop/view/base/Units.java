package flametop.view.base;

import java.util.Locale;

/** Words for numbers on the screen. */
public final class Units {
  private Units() {}

  /** {@code 25.5%}; {@code n/a} for NaN. */
  public static String percent(double share) {
    return Double.isNaN(share) ? "n/a" : oneDecimal(share * 100) + "%";
  }

  /**
   * {@code 25.5}; written by hand, since the formatter of the JDK allocates a kilobyte for each
   * number.
   */
  public static String oneDecimal(double number) {
    long tenths = Math.round(Math.abs(number) * 10);
    return (number < 0 && tenths > 0 ? "-" : "") + tenths / 10 + "." + tenths % 10;
  }

  /** Like {@link #percent}, in a field of six columns so that nothing moves. */
  public static String percentField(double share) {
    return Double.isNaN(share) ? "   n/a" : right(oneDecimal(share * 100), 5) + "%";
  }

  /** An error in percentage points, rounded up, in a field of four columns. */
  public static String points(double share) {
    return right(oneDecimal(Math.ceil(1_000 * share) / 10), 4);
  }

  /** A text at the right end of a field of so many columns, at most eight. */
  public static String right(String text, int columns) {
    return "        ".substring(8 - Math.max(0, columns - text.length())) + text;
  }

  /** {@code 12%}. */
  public static String wholePercent(double share) {
    return Double.isNaN(share) ? "n/a" : Math.round(share * 100) + "%";
  }

  /**
   * {@code 12.3%}, {@code 1200%}: for the many figures of a table, with few objects beside the
   * text.
   */
  public static String tenths(double share) {
    long t = Math.round(share * 1000);
    if (t >= 10_000) {
      return Math.round(share * 100) + "%";
    }
    return t / 10 + "." + t % 10 + "%";
  }

  /** {@code 1.25}, like {@link #tenths}. */
  public static String hundredths(double value) {
    long h = Math.round(value * 100);
    StringBuilder text = new StringBuilder(8).append(h / 100).append('.');
    return text.append(h / 10 % 10).append(h % 10).toString();
  }

  /** {@code 3,811}. */
  public static String count(long n) {
    return String.format(Locale.ROOT, "%,d", n);
  }

  /** An age in at most six columns: {@code 340 ms}, {@code 12 s}. */
  public static String age(long nanos) {
    long ms = nanos / 1_000_000;
    long s = ms / 1000;
    return ms < 1000
        ? ms + " ms"
        : s < 100
            ? s + " s"
            : s < 6000 ? s / 60 + " min" : s < 360_000 ? s / 3600 + " h" : s / 86_400 + " d";
  }

  /** {@code 3.42 s}, {@code 12.5 ms}. */
  public static String time(long nanos) {
    return nanos >= 1_000_000_000L
        ? hundredths(nanos / 1e9) + " s"
        : oneDecimal(nanos / 1e6) + " ms";
  }

  /** {@code 00:42}, {@code 1:02:03}. */
  public static String clock(long nanos) {
    long s = nanos / 1_000_000_000L;
    String minutes = two(s / 60 % 60) + ":" + two(s % 60);
    return s < 3600 ? minutes : s / 3600 + ":" + minutes;
  }

  private static String two(long number) {
    return (number < 10 ? "0" : "") + number;
  }

  /** A length of time in few words: {@code 12 s}, {@code 5 min}, {@code 2 h}. */
  public static String span(long nanos) {
    long s = nanos / 1_000_000_000L;
    return s < 120 ? s + " s" : s < 7200 ? s / 60 + " min" : s / 3600 + " h";
  }

  /** The same to the nearest second: a span that begins and ends with a pass is a little off. */
  public static String near(long nanos) {
    return span(nanos + 500_000_000L);
  }

  /** {@code 0.36 cpu}: time on a CPU per time of the window. */
  public static String cpus(long nanos, long windowNanos) {
    return hundredths(windowNanos <= 0 ? 0 : (double) nanos / windowNanos) + " cpu";
  }

  public static String share(long part, long whole) {
    return percent(whole <= 0 ? 0 : (double) part / whole);
  }
}
