package flametop.cli.settings;

import java.util.ArrayList;
import java.util.List;

/** The form of all files of settings: lines {@code name = value}, and comments. */
final class SettingLines {
  /**
   * A line that sets something.
   *
   * @param number from 1 on
   * @param name empty: the line has no {@code =}, or nothing before
   * @param value without a comment behind the value
   */
  record Line(int number, String name, String value) {}

  private SettingLines() {}

  /** The lines of a file, without those that are empty or a comment. */
  static List<Line> of(String text) {
    List<Line> lines = new ArrayList<>();
    String[] all = text.split("\n", -1);
    for (int i = 0; i < all.length; i++) {
      String line = all[i].strip();
      if (!line.isEmpty() && line.charAt(0) != '#') {
        int equals = line.indexOf('=');
        String name = equals < 0 ? "" : line.substring(0, equals).strip();
        lines.add(new Line(i + 1, name, withoutComment(line.substring(equals + 1))));
      }
    }
    return lines;
  }

  /** A comment behind a value begins after a space; a key may be {@code #} itself. */
  private static String withoutComment(String value) {
    int hash = value.strip().startsWith("#") ? -1 : value.indexOf(" # ");
    return (hash < 0 ? value : value.substring(0, hash)).strip();
  }
}
