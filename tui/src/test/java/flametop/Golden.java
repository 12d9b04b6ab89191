package flametop;

import static org.junit.jupiter.api.Assertions.fail;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Files with what the program is to say. {@code -Dflametop.golden.update=true} writes them anew.
 */
public final class Golden {
  private static final int MOST_LINES = 10;

  private Golden() {}

  /** Fails, with the first lines that differ, if a file has another text. */
  public static void assertHolds(Path file, String text) throws IOException {
    if (Boolean.getBoolean("flametop.golden.update")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, text);
    }
    String before = Files.exists(file) ? Files.readString(file) : "";
    if (!before.equals(text)) {
      fail(
          file
              + " has another text; -Dflametop.golden.update=true writes it anew:"
              + differences(before.split("\n", -1), text.split("\n", -1)));
    }
  }

  private static String differences(String[] before, String[] now) {
    StringBuilder told = new StringBuilder();
    int lines = 0;
    for (int i = 0; i < Math.max(before.length, now.length); i++) {
      String old = i < before.length ? before[i] : "";
      String is = i < now.length ? now[i] : "";
      if (!old.equals(is) && lines++ < MOST_LINES) {
        told.append("\nline ").append(i + 1);
        told.append("\n  file: ").append(old.replace('\033', '^'));
        told.append("\n  now:  ").append(is.replace('\033', '^'));
      }
    }
    return lines > MOST_LINES
        ? told + "\n" + (lines - MOST_LINES) + " more lines"
        : told.toString();
  }
}
