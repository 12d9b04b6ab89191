package flametop.cli;

import flametop.sampler.CleanText;
import flametop.term.UserFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import picocli.CommandLine.ITypeConverter;

/**
 * What the user has set for the screen in {@code ~/.config/flametop/config}: lines {@code option =
 * value}, where an option is one of {@link #OPTIONS}, without its dashes. What the command line
 * says wins. A line in error is left out, with a notice.
 */
final class Settings {
  static final String[] OPTIONS = {"theme", "ascii", "refresh", "states", "history"};

  private static final String FILE = "config";
  private static final int MAX_MESSAGE = 500;

  private record Line(int number, String value) {}

  private final Map<String, Line> lines = new HashMap<>();
  private final Path file;
  private String notice = "";

  /** Reads the file, if there is one. */
  Settings(UserFiles user) {
    file = user.path(FILE);
    if (file == null || !Files.exists(file)) {
      return;
    }
    try {
      String[] all = user.read(file).split("\n", -1);
      for (int i = 0; i < all.length; i++) {
        String line = all[i].strip();
        if (!line.isEmpty() && line.charAt(0) != '#') {
          line(i + 1, line);
        }
      }
    } catch (IOException e) {
      complain(file + ": cannot be read: " + e.getMessage());
    }
  }

  private void line(int number, String line) {
    int equals = line.indexOf('=');
    String key = equals < 0 ? "" : line.substring(0, equals).strip();
    for (String option : OPTIONS) {
      if (option.equals(key)) {
        lines.put(key, new Line(number, line.substring(equals + 1).strip()));
        return;
      }
    }
    String known = String.join(", ", OPTIONS);
    wrong(
        number,
        equals < 0
            ? "no '='; a line is 'theme = light'"
            : "no such setting: " + key + "; there are " + known);
  }

  /** The value of an option; null if there is none that can be used. */
  <T> T value(String option, ITypeConverter<T> converter) {
    Line line = lines.get(option);
    if (line == null) {
      return null;
    }
    try {
      return converter.convert(line.value());
    } catch (Exception e) {
      wrong(line.number(), option + ": " + e.getMessage());
      return null;
    }
  }

  /** Where an option is set, for what is found out about its value later; empty if it is not. */
  String place(String option) {
    Line line = lines.get(option);
    return line == null ? "" : file + ":" + line.number();
  }

  /** The first thing that is wrong; empty if nothing is. */
  String notice() {
    return notice;
  }

  private void wrong(int number, String what) {
    complain(file + ":" + number + ": " + what);
  }

  private void complain(String text) {
    if (notice.isEmpty()) {
      notice = CleanText.clean(text, MAX_MESSAGE);
    }
  }

  /** {@code yes} or {@code no}. */
  static final class YesNo implements ITypeConverter<Boolean> {
    @Override
    public Boolean convert(String text) {
      if (text.equals("yes") || text.equals("no")) {
        return text.equals("yes");
      }
      throw new IllegalArgumentException("'" + text + "' is neither yes nor no");
    }
  }

  /** Any text. */
  static final class Text implements ITypeConverter<String> {
    @Override
    public String convert(String text) {
      return text;
    }
  }
}
