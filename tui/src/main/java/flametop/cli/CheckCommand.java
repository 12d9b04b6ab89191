package flametop.cli;

import flametop.sampler.KernelSource;
import flametop.sampler.KernelSource.CheckLine;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Says what this host allows. */
@Command(
    name = "check",
    sortOptions = false,
    description = "Says what this kernel and these privileges allow.",
    footer = {
      "",
      "flametop --self-test tries flametop itself, too.",
      "Exit code: 0 flametop can sample here, 3 it cannot."
    })
final class CheckCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    ExitCode code = print(KernelSource.check(), "can sample", "cannot sample", out);
    out.flush();
    return code.number();
  }

  /**
   * Prints the lines and what they mean together.
   *
   * @param well what flametop does here if all that is needed is there
   * @param badly the same if it is not
   */
  static ExitCode print(List<CheckLine> lines, String well, String badly, PrintWriter out) {
    int width = lines.stream().mapToInt(line -> line.what().length()).max().orElse(0);
    boolean possible = true;
    for (CheckLine line : lines) {
      possible &= line.ok() || !line.needed();
      String mark = line.ok() ? "ok  " : line.needed() ? "NO  " : "no  ";
      out.println(
          (mark + line.what() + " ".repeat(width + 2 - line.what().length()) + line.detail())
              .stripTrailing());
      if (!line.ok() && !line.remedy().isEmpty()) {
        out.println(" ".repeat(4 + width + 2) + "-> " + line.remedy());
      }
    }
    out.println(
        "flametop " + (possible ? well + " here" : badly + " here: see the lines marked no"));
    return possible ? ExitCode.DONE : ExitCode.NOT_POSSIBLE;
  }
}
