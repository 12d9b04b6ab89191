package flametop.cli;

import flametop.cli.settings.LookOptions;
import flametop.profile.file.StackFile;
import flametop.profile.file.StackFiles;
import flametop.profile.file.StackInput;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows files on the screen. */
@Command(
    name = "view",
    sortOptions = false,
    separator = " ",
    customSynopsis = "flametop view [--theme NAME] FILE…",
    description = "Shows profiles of any tool, packed ones too, or a recorded stream.",
    footer = {
      "Examples:",
      "  flametop view out.folded             while it is being read, too",
      "  flametop view monday.gz tuesday.gz   [ and ] switch, | shows two",
      "  flametop view perf.data cpu.pb.gz x.jfr trace.json"
    })
final class ViewCommand implements Callable<Integer> {
  /** Null without a command line: then no option is given either. */
  @Spec private CommandSpec spec;

  @Parameters(
      arity = "1..*",
      paramLabel = "FILE",
      description = "folded stacks, or a profile; - is stdin")
  private List<Path> paths = new ArrayList<>();

  @Option(
      names = "--comm",
      negatable = true,
      description = {
        "the first frame is a comm, or no comm (default: as each file says)",
        "Says that the first frame of each stack is a comm (the name of a program), or with --no-comm that it is a function. Without either, each file says so itself by a line # first frame: comm; a file without that line begins with functions."
      })
  private @Nullable Boolean comm;

  @Mixin private final SampleTypeOptions types = new SampleTypeOptions();

  @Mixin private final LookOptions looks = new LookOptions();

  /**
   * @param paths as if they were given by the command line
   */
  ViewCommand(List<Path> paths) {
    this.paths.addAll(paths);
  }

  @Override
  public Integer call() throws Exception {
    if (looks.listed()) {
      return ExitCode.DONE.number();
    }
    if (paths.size() == 1 && StackInput.isStream(paths.get(0))) {
      return new ScreenCommand(List.of(), new ReplayOptions(paths.get(0)), looks).call();
    }
    if (ReplayedStacks.agreeOnStdin(paths) && Terminals.isStdin()) {
      throw Failure.usage("stdin is the terminal; - takes stacks from a pipe: … | flametop view -");
    }
    if (types.list(paths, () -> spec.commandLine().getOut())) {
      return ExitCode.DONE.number();
    }
    StackFile.Choice choice = new StackFile.Choice(comm, types.wanted());
    try (StackFiles files = StackFiles.open(paths, ReplayedStacks::open, choice)) {
      return FileScreen.show(files, paths.get(0).toString(), looks);
    }
  }
}
