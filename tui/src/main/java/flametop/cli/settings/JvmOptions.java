package flametop.cli.settings;

import picocli.CommandLine.Option;

/** Requests to JVMs. */
public final class JvmOptions {
  // Hidden: the help fits a screen, and a key does the same.
  @Option(
      names = "--jvm-maps",
      order = 7,
      hidden = true,
      description = {
        "ask JVMs for names of code; each writes a file",
        "Asks the JVMs that are seen for the names of their compiled code, and again every ten seconds while new code is seen; without a target, all JVMs of the machine, one after the other. Each JVM (JDK 17 or newer) writes /tmp/perf-PID.map."
      })
  private boolean maps;

  public boolean maps() {
    return maps;
  }
}
