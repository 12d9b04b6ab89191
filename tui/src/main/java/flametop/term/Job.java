package flametop.term;

import flametop.term.device.Helper;
import java.io.IOException;

/** Flametop as a job of the shell: the JVM, and the launcher that waits for it. */
final class Job {
  private static final String LAUNCHER = System.getProperty("flametop.launcher.pid", "");

  private Job() {}

  /**
   * Stops the whole job, as Ctrl-Z does in a terminal with signals by keys; returns when the shell
   * lets the job go on. TSTP has its default effect meanwhile.
   */
  static void stop(Signals signals) throws IOException, InterruptedException {
    signals.byDefault("TSTP");
    if (LAUNCHER.isEmpty()) {
      Helper.run("stop");
      Thread.sleep(50);
    } else {
      Helper.run("stop", LAUNCHER);
    }
  }
}
