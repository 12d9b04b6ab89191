package flametop.cli;

import flametop.profile.answer.Snapshot;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackFiles;
import flametop.profile.file.StackInput;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine.Option;

/** Which values of a profile are shown. */
final class SampleTypeOptions {
  @Option(
      names = "--sample-type",
      paramLabel = "NAME",
      description = {
        "which values of a profile that has several, or list",
        "Which type of values is shown of a profile that has several, such as alloc_space of pprof, an event of perf, or allocation of JFR; list prints their names. Without it the type that the profile prefers, or its first; the notices name the others, and key v of the screen lists them."
      })
  private String wanted = "";

  /**
   * Prints the types that profiles have, one a line, the one that is shown first, if that is asked
   * for.
   *
   * @param to where to, if so
   * @return whether it is
   */
  boolean list(List<Path> paths, Supplier<PrintWriter> to) throws Exception {
    if (!wanted.equals("list")) {
      return false;
    }
    PrintWriter out = to.get();
    List<StackInput> inputs = StackFiles.inputs(paths, ReplayedStacks::open);
    try (StackFile file = StackFile.added(inputs, StackFile.Choice.NONE)) {
      Snapshot.Reading unused = file.whole().get();
      file.sampleTypes().get().forEach(out::println);
    }
    out.flush();
    return true;
  }

  /** Name of the type; empty: what the profile prefers. */
  String wanted() {
    return wanted;
  }
}
