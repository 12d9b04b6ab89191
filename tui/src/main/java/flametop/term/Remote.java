package flametop.term;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** Whether the terminal is at the other end of a network. */
final class Remote {
  private static final int MAX_ANCESTORS = 64;

  private Remote() {}

  /**
   * Reads the environment. Sudo drops it, so an ssh server among the ancestors counts too.
   *
   * @param environment as of {@link System#getenv()}
   * @param proc the folder {@code /proc}
   */
  static boolean isRemote(Map<String, String> environment, Path proc) {
    if (!environment.getOrDefault("SSH_CONNECTION", "").isEmpty()) {
      return true;
    }
    if (environment.getOrDefault("SUDO_UID", "").isEmpty()) {
      return false;
    }
    String pid = "self";
    try {
      for (int i = 0; i < MAX_ANCESTORS && !pid.equals("0"); i++) {
        String stat =
            new String(
                Files.readAllBytes(proc.resolve(pid).resolve("stat")), StandardCharsets.ISO_8859_1);
        // PID (COMM) STATE PARENT …; a comm may have brackets and blanks.
        int end = stat.lastIndexOf(')');
        if (stat.startsWith("sshd", stat.indexOf('(') + 1)) {
          return true;
        }
        int parent = stat.indexOf(' ', end + 2) + 1;
        pid = stat.substring(parent, stat.indexOf(' ', parent));
      }
    } catch (IOException | StringIndexOutOfBoundsException e) {
      // The process is gone, or hidden from us.
    }
    return false;
  }
}
