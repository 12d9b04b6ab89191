package flametop.profile.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The memory of the machine, and the part of it that history in full may take. */
public final class HostMemory {
  private static final Pattern LINE = Pattern.compile("(\\w+): +([0-9]{1,15}) kB");
  private static final int PART = 32;
  private static final int LEAST_MEBIBYTES = 4;

  /** All of flametop with its screen is to stay below 170 MiB. */
  private static final int MOST_MEBIBYTES = 64;

  private HostMemory() {}

  /** The memory of history in full, MiB. */
  public static int history() {
    return history(meminfo());
  }

  /** The memory that programs may take without any swapping, bytes; 0 if that is not known. */
  public static long available() {
    return 1_024 * kilobytes(meminfo(), "MemAvailable");
  }

  private static List<String> meminfo() {
    try {
      return Files.readAllLines(Path.of("/proc/meminfo"));
    } catch (IOException e) {
      return List.of();
    }
  }

  /**
   * @param meminfo lines of {@code /proc/meminfo}
   */
  static int history(List<String> meminfo) {
    long part = kilobytes(meminfo, "MemTotal") / 1_024 / PART;
    return (int) Math.max(LEAST_MEBIBYTES, Math.min(MOST_MEBIBYTES, part));
  }

  private static long kilobytes(List<String> meminfo, String name) {
    for (String line : meminfo) {
      Matcher found = LINE.matcher(line);
      if (found.matches() && found.group(1).equals(name)) {
        return Long.parseLong(found.group(2));
      }
    }
    return 0;
  }
}
