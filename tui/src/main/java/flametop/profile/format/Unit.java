package flametop.profile.format;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A unit of values. Values are kept as whole numbers of parts: {@code 10^digits} parts make one of
 * the unit that is shown.
 *
 * @param name as it is shown: {@code us}, {@code ns}, {@code bytes}, {@code samples}
 * @param digits of a value that stand behind the point
 * @param parts how many parts make one of the unit of the profile
 */
public record Unit(String name, int digits, long parts) {
  /** A value that no stack can have. */
  public static final long TOO_LARGE = Long.MIN_VALUE;

  private static final Pattern FRACTION = Pattern.compile("([^/]{1,32})/1(0{1,6})");

  /** Below it each whole number is a double. */
  private static final double EXACT = 1L << 53;

  /**
   * The unit with the name of a profile. Times become ns, or remain µs.
   *
   * @param of as profiles name it: {@code nanoseconds}, {@code bytes}, {@code count}
   * @param counted what is counted, where the unit only says that something is
   */
  public static Unit of(String of, String counted) {
    Matcher fraction = FRACTION.matcher(of);
    if (fraction.matches()) {
      // flametop writes numbers with a fraction to pprof, which has whole numbers, so.
      Unit whole = of(fraction.group(1), counted);
      int digits = fraction.group(2).length();
      return whole.parts % (long) Math.pow(10, digits) == 0
          ? new Unit(whole.name, whole.digits, whole.parts / (long) Math.pow(10, digits))
          : new Unit(whole.name, whole.digits + digits, whole.parts);
    }
    return switch (of.toLowerCase(Locale.ROOT)) {
      case "ns", "nanosecond", "nanoseconds" -> new Unit("ns", 0, 1);
      case "us", "µs", "microsecond", "microseconds" -> new Unit("us", 3, 1_000);
      case "ms", "millisecond", "milliseconds" -> new Unit("ns", 0, 1_000_000);
      case "s", "second", "seconds" -> new Unit("ns", 0, 1_000_000_000);
      case "b", "byte", "bytes" -> new Unit("bytes", 3, 1_000);
      case "kb", "kilobyte", "kilobytes" -> new Unit("bytes", 0, 1_024);
      case "mb", "megabyte", "megabytes" -> new Unit("bytes", 0, 1_024 * 1_024);
      case "", "none", "count" -> new Unit(word(counted), 6, 1_000_000);
      default -> new Unit(word(of), 6, 1_000_000);
    };
  }

  /** A unit of whole numbers. */
  public static Unit whole(String name) {
    return new Unit(name, 0, 1);
  }

  /** A unit is one short word, since a header and a comment of folded stacks have it. */
  private static String word(String text) {
    String word = text.replaceAll("[^A-Za-z0-9_.-]", "_");
    word = word.substring(0, Math.min(word.length(), 32));
    return word.isEmpty() || !Character.isLetter(word.charAt(0)) ? "samples" : word;
  }

  /** The parts of a whole number of the profile; {@link #TOO_LARGE} if there are too many. */
  public long of(long value) {
    long high = Math.multiplyHigh(value, parts);
    long low = value * parts;
    return high == low >> 63 ? low : TOO_LARGE;
  }

  /** The parts of a number of the profile, rounded; {@link #TOO_LARGE} if there are too many. */
  public long of(double value) {
    double exact = value * parts;
    return Math.abs(exact) < EXACT
        ? Math.round(exact)
        : Double.isFinite(value) ? of(new BigDecimal(value)) : TOO_LARGE;
  }

  private long of(BigDecimal value) {
    BigDecimal exact = value.multiply(BigDecimal.valueOf(parts)).setScale(0, RoundingMode.HALF_UP);
    return exact.abs().compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) < 0
        ? exact.longValue()
        : TOO_LARGE;
  }
}
