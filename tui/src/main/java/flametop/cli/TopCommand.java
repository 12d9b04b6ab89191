package flametop.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/** Samples for some seconds, and prints the heaviest stacks: {@code record --format text}. */
@Command(
    name = "top",
    sortOptions = false,
    separator = " ",
    customSynopsis = "flametop top [--json] [-d SECONDS] [OPTIONS OF record] [-- COMMAND]",
    description = "Samples for 5 seconds and prints the heaviest stacks as text.",
    footer = {
      "Examples:",
      "  flametop top                    the whole machine: what is busy",
      "  flametop top -p 1234 -d 10      one process, awake and asleep",
      "  flametop top --json >top.json   for a program"
    })
final class TopCommand implements Callable<Integer> {
  private final Interruption interruption;
  private final List<String> program;

  @Spec private CommandSpec spec;

  @Option(
      names = "--json",
      description = {
        "as JSON (schema flametop-summary-1)",
        "Prints one object of JSON in place of text; the manual has its schema."
      })
  private boolean json;

  @Option(
      names = "-d",
      paramLabel = "SECONDS",
      description = {
        "how long (default 5; with a command until it ends)",
        "Samples for so many seconds: 5 by default; beside a command, until that ends."
      })
  private String seconds = "";

  @Unmatched private List<String> others = new ArrayList<>();

  TopCommand(Interruption interruption, List<String> program) {
    this.interruption = interruption;
    this.program = program;
  }

  @Override
  public Integer call() {
    List<String> arguments = new ArrayList<>(List.of("record", "--format", json ? "json" : "text"));
    if (!seconds.isEmpty()) {
      arguments.addAll(List.of("-d", seconds));
    } else if (program.isEmpty() && others.stream().noneMatch(TopCommand::saysWhen)) {
      arguments.addAll(List.of("-d", "5"));
    }
    arguments.addAll(others);
    CommandLine record = Main.commandLine(interruption, program);
    record.setOut(spec.commandLine().getOut());
    record.setErr(spec.commandLine().getErr());
    return record.execute(arguments.toArray(String[]::new));
  }

  /** Whether an option of record says when to end. */
  private static boolean saysWhen(String argument) {
    return argument.equals("-i") || argument.startsWith("--replay");
  }
}
