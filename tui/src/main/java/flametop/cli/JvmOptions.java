package flametop.cli;

import picocli.CommandLine.Option;

/** What is asked of JVMs. */
final class JvmOptions {
  @Option(names = "--jvm-maps", order = 7, description = "ask JVMs for maps; each writes a file")
  private boolean maps;

  boolean maps() {
    return maps;
  }
}
