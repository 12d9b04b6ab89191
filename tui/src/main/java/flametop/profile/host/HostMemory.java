package flametop.profile.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The memory of the machine, and the part of it that history in full may take. */
public final class HostMemory {
  private static final Pattern TOTAL = Pattern.compile("MemTotal: +([0-9]{1,15}) kB");
  private static final int PART = 32;
  private static final int LEAST_MEBIBYTES = 4;

  /** All of flametop with its screen is to stay below 170 MiB. */
  private static final int MOST_MEBIBYTES = 64;

  private HostMemory() {}

  /** The memory of history in full, MiB. */
  public static int history() {
    try {
      return history(Files.readAllLines(Path.of("/proc/meminfo")));
    } catch (IOException e) {
      return LEAST_MEBIBYTES;
    }
  }

  /**
   * @param meminfo lines of {@code /proc/meminfo}
   */
  static int history(List<String> meminfo) {
    for (String line : meminfo) {
      Matcher total = TOTAL.matcher(line);
      if (total.matches()) {
        long part = Long.parseLong(total.group(1)) / 1_024 / PART;
        return (int) Math.max(LEAST_MEBIBYTES, Math.min(MOST_MEBIBYTES, part));
      }
    }
    return LEAST_MEBIBYTES;
  }
}
