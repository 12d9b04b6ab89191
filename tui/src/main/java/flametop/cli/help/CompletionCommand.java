package flametop.cli.help;

import flametop.cli.settings.OneOf;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints what completes the command line in a shell. */
@Command(
    name = "completion",
    hidden = true,
    sortOptions = false,
    customSynopsis = "flametop completion bash|zsh|fish",
    description = "Prints a script with which a shell completes command lines of flametop.",
    footer = {
      "Examples:",
      "  flametop completion bash >/etc/bash_completion.d/flametop",
      "  flametop completion zsh >~/.flametop.zsh; echo . ~/.flametop.zsh >>~/.zshrc",
      "  flametop completion fish >~/.config/fish/completions/flametop.fish"
    })
public final class CompletionCommand implements Callable<Integer> {
  /** A shell that completes command lines. */
  private enum Shell {
    BASH,
    ZSH,
    FISH
  }

  static final class ShellName extends OneOf<Shell> {
    ShellName() {
      super(List.of(Shell.values()));
    }
  }

  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "SHELL",
      converter = ShellName.class,
      completionCandidates = ShellName.class,
      description = "the shell: bash, zsh or fish")
  private Shell shell = Shell.BASH;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    CommandLine screen = spec.parent().commandLine();
    // The script for bash serves zsh too.
    out.print(
        shell == Shell.FISH
            ? FishCompletion.script(new Reference(screen))
            : AutoComplete.bash("flametop", screen));
    out.flush();
    return 0;
  }
}
