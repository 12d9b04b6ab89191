package flametop.cli;

import java.util.List;
import picocli.CommandLine.Option;

/** What is asked of JVMs. */
final class JvmOptions {
  @Option(
      names = "--jvm-maps",
      order = 7,
      description = "ask the target's JVMs for names of compiled code")
  private boolean maps;

  boolean maps() {
    return maps;
  }

  /**
   * Refuses to ask JVMs that nobody named: each that is asked writes a file.
   *
   * @param program what is started; empty: none
   */
  void agree(TargetOptions target, List<String> program) {
    if (maps && !target.named() && program.isEmpty()) {
      throw new Failure.Ends(
          ExitCode.USAGE,
          "--jvm-maps has JVMs write files, so it asks only those that are named: by -p, -t, --cgroup or a program to start (--)");
    }
  }
}
