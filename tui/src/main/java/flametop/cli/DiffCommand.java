package flametop.cli;

import flametop.cli.settings.LookOptions;
import flametop.export.ComparedStacks;
import flametop.export.OutputFile;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackFiles;
import flametop.profile.tree.HeldStacks;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares two profiles. */
@Command(
    name = "diff",
    sortOptions = false,
    separator = " ",
    customSynopsis = "flametop diff [--theme NAME] BEFORE NOW | [-n] [-o FILE|-] BEFORE NOW",
    description = "Compares two profiles of any tool, stack by stack.",
    footer = {
      "Examples:",
      "  flametop diff monday.folded tuesday.folded",
      "  flametop diff a.folded b.folded -o diff.folded",
      "  flametop diff a.folded b.folded | inferno-flamegraph >diff.svg"
    })
final class DiffCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "BEFORE", description = "what is compared with; - is stdin")
  private Path before;

  @Parameters(index = "1", paramLabel = "NOW", description = "what is looked at")
  private Path now;

  @Option(
      names = "-o",
      paramLabel = "FILE",
      description = {
        "write folded stacks with both numbers there; - is stdout",
        "Writes folded stacks with both numbers (before, now) to this file instead of showing them; - is stdout."
      })
  private @Nullable Path output;

  @Option(
      names = "-n",
      description = {
        "written: scale the first numbers to the total of the second",
        "Scales the first numbers that are written to the total of the second, and leaves out what is then less than one."
      })
  private boolean normalize;

  @Option(
      names = "--comm",
      negatable = true,
      description = {
        "the first frame is a comm, or no comm (default: as the files say)",
        "As of view."
      })
  private @Nullable Boolean comm;

  @Mixin private final SampleTypeOptions types = new SampleTypeOptions();

  @Mixin private final LookOptions looks = new LookOptions();

  @Option(
      names = "--force",
      hidden = true,
      description = {"replace a file that exists", "Replaces the file if it exists."})
  private boolean force;

  @Override
  public Integer call() throws Exception {
    if (looks.listed()) {
      return ExitCode.DONE.number();
    }
    ReplayedStacks.agreeOnStdin(List.of(before, now));
    boolean screen = output == null && Terminals.isStdout();
    if (screen && normalize) {
      throw Failure.usage("-n is for what is written; the screen compares shares anyhow");
    }
    StackFile compared =
        StackFile.compared(
            ReplayedStacks.open(before),
            ReplayedStacks.open(now),
            new StackFile.Choice(comm, types.wanted()));
    if (screen) {
      try (StackFiles files = new StackFiles(compared)) {
        return FileScreen.show(files, before + " → " + now, looks);
      }
    }
    try (compared) {
      return write(compared).number();
    }
  }

  private ExitCode write(StackFile file) throws IOException, InterruptedException {
    PrintWriter err = spec.commandLine().getErr();
    Failure.got(file.whole());
    for (String complaint : Failure.got(file.complaints())) {
      Main.complain(err, complaint);
    }
    StackFile.Use use = Failure.got(file.use());
    if (!use.counts()) {
      Main.complain(err, "there is nothing to compare, so nothing is written");
      return ExitCode.FAILED;
    }
    HeldStacks stacks = Failure.got(file.held(0));
    ComparedStacks.Scale scale =
        normalize ? new ComparedStacks.Scale(use.before(), use.now()) : ComparedStacks.Scale.NONE;
    ExitCode code = use.whole() ? ExitCode.DONE : ExitCode.FAILED;
    if (output == null || output.toString().equals("-")) {
      long unused = ComparedStacks.write(new StandardOutput(), stacks, scale);
      return code;
    }
    try (OutputFile to = OutputFile.create(output, force)) {
      long[] written = new long[1];
      to.write(out -> written[0] = ComparedStacks.write(out, stacks, scale));
      String text =
          String.format(Locale.ROOT, "wrote %s: %,d stacks", RecordingOutput.name(to), written[0]);
      Main.complain(err, text);
    }
    return code;
  }
}
