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
    // The launcher passes TSTP on to us, so it is stopped first: a signal that it gets meanwhile is
    // dropped when it goes on. If the group cannot be stopped (no shell would let it go on), the
    // kernel drops the signal, and the screen is back at once.
    if (LAUNCHER.isEmpty()) {
      Helper.run("stop");
    } else {
      Helper.run("stop", LAUNCHER);
    }
    Thread.sleep(50);
    if (!LAUNCHER.isEmpty()) {
      Helper.run("continue", LAUNCHER);
    }
  }
}
