package flametop.export;

/** Writes numbers with digits behind the point. */
final class Decimal {
  private Decimal() {}

  /**
   * {@code 12}, {@code 12.5}: as many digits behind the point as there are.
   *
   * @param value 0 or more
   * @param decimals digits of the value that stand behind the point
   */
  static String text(long value, int decimals) {
    String digits = Long.toString(value);
    if (decimals == 0) {
      return digits;
    }
    String padded = "0".repeat(Math.max(0, decimals + 1 - digits.length())) + digits;
    int point = padded.length() - decimals;
    int end = padded.length();
    while (end > point && padded.charAt(end - 1) == '0') {
      end--;
    }
    String whole = padded.substring(0, point);
    return end == point ? whole : whole + "." + padded.substring(point, end);
  }
}
