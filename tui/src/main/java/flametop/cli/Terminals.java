package flametop.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells whether standard streams are terminals. The console of the JDK cannot: its answer depends
 * on the version of the JDK.
 */
final class Terminals {
  private Terminals() {}

  static boolean isStdin() {
    return isTerminal(0);
  }

  static boolean isStdout() {
    return isTerminal(1);
  }

  static boolean isStderr() {
    return isTerminal(2);
  }

  private static boolean isTerminal(int descriptor) {
    try {
      String file = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString();
      return file.matches("/dev/(pts/.*|tty.*|console|hvc.*)");
    } catch (IOException e) {
      return false;
    }
  }
}
