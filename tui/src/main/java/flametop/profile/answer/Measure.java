package flametop.profile.answer;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/**
 * The unit of the amounts of a graph, and how amounts are printed. An amount is a whole number of
 * equal parts of a unit. A picture has one measure: amounts of two measures never add up.
 *
 * @param unit as exports name it: {@code us}, {@code bytes}, {@code samples}
 * @param parts how many parts make one of the unit
 */
public record Measure(Kind kind, String unit, long parts) {
  /** How amounts are printed. */
  public enum Kind {
    /** A time of tasks, in µs; only this has states. */
    TIME,
    /** Times that are of no state, such as those of calls. */
    DURATION,
    /** A size. */
    BYTES,
    /** A number of things, which the unit names. */
    COUNT
  }

  /** Times of tasks, of which a log keeps the ns. */
  public static final Measure TIME = new Measure(Kind.TIME, "us", 1_000);

  /** Passes in which a task was seen off the CPU, and samples of the CPU clock. */
  public static final Measure SAMPLES = new Measure(Kind.COUNT, "samples", 1);

  public static final Measure BYTES = new Measure(Kind.BYTES, "bytes", 1);

  /** Events, each of the weight 1, or another plain number of a source. */
  public static final Measure EVENTS = new Measure(Kind.COUNT, "events", 1);

  /** Times of a source of events. */
  public static final Measure DURATION = new Measure(Kind.DURATION, "ns", 1);

  /** Times that tasks waited for others: exports have µs of them, as of the time of tasks. */
  public static final Measure WAITS = new Measure(Kind.DURATION, "us", 1_000);

  private static final String[] SIZES = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

  /** The measure of a unit, which a file names, in so many parts. */
  public static Measure of(String unit, long parts) {
    Kind kind =
        switch (unit) {
          case "us" -> Kind.TIME;
          case "ns" -> Kind.DURATION;
          case "bytes" -> Kind.BYTES;
          default -> Kind.COUNT;
        };
    return new Measure(kind, unit, parts);
  }

  public boolean isTime() {
    return kind == Kind.TIME;
  }

  /** The title of a column of figures. */
  public String title() {
    return isTime() ? "time" : unit;
  }

  /** An amount for people: {@code 12.3 ms}, {@code 4.0 KiB}, {@code 1,234 samples}. */
  public String text(long amount) {
    return kind == Kind.COUNT ? figure(amount) + " " + unit : figure(amount);
  }

  /** The same below a {@link #title}, which names the unit. */
  public String figure(long amount) {
    return switch (kind) {
      case TIME -> time((double) amount / parts);
      case DURATION ->
          duration(unit.equals("us") ? amount * 1_000.0 / parts : (double) amount / parts);
      case BYTES -> size((double) amount / parts);
      case COUNT -> amount % parts == 0 ? grouped(amount / parts) : broken(amount);
    };
  }

  /**
   * The sum of an export, for people: {@code 12.345 s of task time}, {@code 1,234 samples}.
   *
   * @param units in whole units, not in parts
   * @param digits the same as digits, some perhaps behind the point
   */
  public String sum(double units, String digits) {
    return isTime()
        ? String.format(Locale.ROOT, "%.3f s of task time", units / 1e6)
        : (digits.contains(".") ? digits : grouped(Long.parseLong(digits))) + " " + unit;
  }

  private static String time(double micros) {
    return micros < 1e6
        ? oneDecimal(micros / 1e3) + " ms"
        : micros < 1e8 ? oneDecimal(micros / 1e6) + " s" : grouped(Math.round(micros / 1e6)) + " s";
  }

  /** Short times too: {@code 850 ns}, {@code 12.3 µs}. */
  private static String duration(double nanos) {
    return nanos < 1_000
        ? Math.round(nanos) + " ns"
        : nanos < 1e6 ? oneDecimal(nanos / 1e3) + " µs" : time(nanos / 1e3);
  }

  private static String size(double bytes) {
    if (bytes < 1024) {
      return grouped(Math.round(bytes)) + " B";
    }
    double rest = bytes / 1024;
    int size = 0;
    while (rest >= 1024 && size < SIZES.length - 1) {
      rest /= 1024;
      size++;
    }
    return oneDecimal(rest) + " " + SIZES[size];
  }

  /** {@code 0.0123}, {@code 12.34}, {@code 12,345}: four digits of it, or all before the point. */
  private String broken(long amount) {
    if (amount / parts >= 1_000) {
      return grouped(Math.round((double) amount / parts));
    }
    return new BigDecimal(amount)
        .divide(new BigDecimal(parts), new MathContext(4))
        .stripTrailingZeros()
        .toPlainString();
  }

  private static String oneDecimal(double number) {
    long tenths = Math.round(number * 10);
    return tenths / 10 + "." + tenths % 10;
  }

  /** {@code 1,234,567}; the formatter of the JDK takes 20 ms for its first. */
  public static String grouped(long count) {
    String digits = Long.toString(count);
    StringBuilder text = new StringBuilder(digits);
    for (int i = digits.length() - 3; i > 0; i -= 3) {
      text.insert(i, ',');
    }
    return text.toString();
  }
}
