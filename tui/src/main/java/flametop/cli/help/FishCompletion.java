package flametop.cli.help;

import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

/** Completion for the shell fish. */
final class FishCompletion {
  private FishCompletion() {}

  static String script(Reference reference) {
    List<CommandLine> commands = reference.commands();
    CommandLine screen = commands.get(0);
    String names =
        commands.stream().skip(1).map(CommandLine::getCommandName).collect(Collectors.joining(" "));
    String none = "not __fish_seen_subcommand_from " + names;
    StringBuilder script = new StringBuilder("# Completes flametop in fish.\n");
    for (CommandLine command : commands) {
      String name = command.getCommandName();
      boolean isScreen = command == screen;
      if (!isScreen) {
        String description = command.getCommandSpec().usageMessage().description()[0];
        line(script, none, " -f -a " + name, description);
      }
      String here = isScreen ? none : "__fish_seen_subcommand_from " + name;
      for (OptionSpec option : command.getCommandSpec().options()) {
        line(script, here, words(option), option.description()[0]);
      }
    }
    return script.toString();
  }

  private static String words(OptionSpec option) {
    StringBuilder words = new StringBuilder();
    for (String name : option.names()) {
      words.append(name.startsWith("--") ? " -l " : " -s ").append(name.replaceFirst("^-+", ""));
    }
    if (option.negatable()) {
      words.append(" -l no-").append(option.longestName().substring(2));
    }
    Iterable<String> values = option.completionCandidates();
    if (option.arity().min() > 0) {
      words.append(values == null ? " -r" : " -x -a " + quoted(String.join(" ", values)));
    }
    return words.toString();
  }

  private static void line(StringBuilder script, String condition, String what, String text) {
    script
        .append("complete -c flametop -n ")
        .append(quoted(condition))
        .append(what)
        .append(" -d ")
        .append(quoted(text))
        .append('\n');
  }

  private static String quoted(String text) {
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
  }
}
