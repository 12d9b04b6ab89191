package flametop.term;

import java.io.IOException;

/** The job of the shell that flametop is: the JVM, and the launcher that waits for it. */
final class Job {
  private static final String LAUNCHER = System.getProperty("flametop.launcher.pid", "");

  private Job() {}

  /**
   * Stops all of it, as the key would where signals are not switched off; returns when the shell
   * lets it go on. TSTP does what it does by default meanwhile.
   */
  static void stop(Signals signals) throws IOException, InterruptedException {
    signals.byDefault("TSTP");
    // The launcher passes TSTP on to us, so it is stopped first; then what comes to it is dropped
    // when it goes on. Where the group cannot be stopped (no shell would let it go on) the kernel
    // drops the signal, and the screen is back at once.
    String stop = LAUNCHER.isEmpty() ? "" : "kill -STOP " + LAUNCHER + "; ";
    sh(stop + "kill -TSTP 0");
    Thread.sleep(50);
    if (!LAUNCHER.isEmpty()) {
      sh("kill -CONT " + LAUNCHER);
    }
  }

  private static void sh(String command) throws IOException, InterruptedException {
    new ProcessBuilder("/bin/sh", "-c", command).start().waitFor();
  }
}
