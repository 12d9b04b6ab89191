package flametop.profile.format;

/**
 * Where the code of a frame stands in sources.
 *
 * @param file path or URL of the source; empty if it is not known
 * @param line from 1 on; 0 if it is not known
 * @param column from 1 on; 0 if it is not known
 */
public record Place(String file, int line, int column) {
  /** Nothing is known. */
  public static final Place NONE = new Place("", 0, 0);

  /** The place with numbers that nobody has checked. */
  static Place of(String file, long line, long column) {
    int known = number(line);
    return file.isEmpty() && known == 0 ? NONE : new Place(file, known, number(column));
  }

  private static int number(long number) {
    return number > 0 && number <= Integer.MAX_VALUE ? (int) number : 0;
  }
}
