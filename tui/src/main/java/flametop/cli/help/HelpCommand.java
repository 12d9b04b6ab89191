package flametop.cli.help;

import flametop.cli.help.Reference.Entry;
import flametop.cli.settings.Settings;
import flametop.view.paint.Legend;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Help.Column;
import picocli.CommandLine.Help.Column.Overflow;
import picocli.CommandLine.Help.TextTable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints all that is known of one topic: a command, the keys, the formats … */
@Command(
    name = "help",
    sortOptions = false,
    customSynopsis = "flametop help [TOPIC]",
    description = "Explains a command, the keys or another topic in full.")
public final class HelpCommand implements Callable<Integer> {
  private static final int WIDTH = 80;

  /** Cells of the first column, with the blanks around its text. */
  private static final int TERM = 26;

  private final List<Entry> exitCodes;

  @Spec private CommandSpec spec;

  @Parameters(
      arity = "0..1",
      paramLabel = "TOPIC",
      description = "a command, or one of keys, words, formats, exit-codes, settings")
  private @Nullable String topic;

  /**
   * @param exitCodes numbers and their meaning
   */
  public HelpCommand(List<Entry> exitCodes) {
    this.exitCodes = exitCodes;
  }

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    Reference reference = new Reference(spec.parent().commandLine());
    List<Entry> topics = topics(reference);
    if (topic == null) {
      out.print("flametop help TOPIC explains one of these in full:\n\n" + table(topics));
    } else {
      out.print(text(reference, topics, topic));
    }
    out.flush();
    return 0;
  }

  /** Names of topics, and what each explains. */
  private static List<Entry> topics(Reference reference) {
    List<Entry> topics = new ArrayList<>();
    for (CommandLine command : reference.commands()) {
      topics.add(new Entry(command.getCommandName(), description(command)));
    }
    topics.add(new Entry("keys", "Explains all keys of the screen."));
    topics.add(new Entry("words", "Explains the words and the colours of the screen."));
    topics.add(new Entry("formats", "Lists the formats that flametop writes."));
    topics.add(new Entry("exit-codes", "Explains the exit codes."));
    topics.add(new Entry("settings", "Prints a configuration with all settings."));
    return topics;
  }

  private String text(Reference reference, List<Entry> topics, String name) {
    return switch (name) {
      case "keys" -> keys();
      case "words" -> words();
      case "formats" -> table(Reference.formats());
      case "exit-codes" -> table(exitCodes);
      case "settings" -> Settings.example();
      default -> {
        for (CommandLine command : reference.commands()) {
          if (command.getCommandName().equals(name)) {
            yield command(reference, command);
          }
        }
        throw new ParameterException(
            spec.commandLine(), "'" + name + "' is no topic; there are " + names(topics));
      }
    };
  }

  private static String names(List<Entry> topics) {
    return topics.stream().map(topic -> topic.words().get(0)).collect(Collectors.joining(", "));
  }

  private static String command(Reference reference, CommandLine command) {
    CommandLine.Help help = command.getHelp();
    String shared = reference.shared(command);
    List<Entry> options = reference.options(command);
    return "Usage: "
        + help.synopsis(0)
        + description(command)
        + "\n"
        + (shared.isEmpty() ? "" : "\n" + wrapped(shared))
        + (options.isEmpty() ? "" : "\n" + table(options))
        + "\n"
        + help.footer();
  }

  private static String description(CommandLine command) {
    return String.join(" ", command.getCommandSpec().usageMessage().description());
  }

  private static String keys() {
    StringBuilder text = new StringBuilder();
    Reference.keys()
        .forEach(
            (group, entries) ->
                text.append(text.isEmpty() ? "" : "\n")
                    .append(Reference.capital(group))
                    .append('\n')
                    .append(table(entries)));
    return text.toString();
  }

  private static String words() {
    StringBuilder text = new StringBuilder();
    List<Entry> entries = new ArrayList<>();
    for (String[] line : Legend.help()) {
      if (line.length == 1) {
        text.append(table(entries)).append(text.isEmpty() ? "" : "\n");
        text.append(Reference.capital(line[0])).append('\n');
        entries.clear();
      } else {
        entries.add(new Entry(line[0], line[1]));
      }
    }
    return text.append(table(entries)).toString();
  }

  private static String table(List<Entry> entries) {
    TextTable table =
        TextTable.forColumns(
            CommandLine.Help.defaultColorScheme(Ansi.OFF),
            new Column(TERM, 2, Overflow.SPAN),
            new Column(WIDTH - TERM, 1, Overflow.WRAP));
    for (Entry entry : entries) {
      table.addRowValues(plain(String.join(" ", entry.words())), plain(entry.text()));
    }
    return table.toString();
  }

  private static String wrapped(String text) {
    TextTable table =
        TextTable.forColumns(
            CommandLine.Help.defaultColorScheme(Ansi.OFF), new Column(WIDTH, 0, Overflow.WRAP));
    table.addRowValues(plain(text));
    return table.toString();
  }

  /** Without the marks of Markdown. */
  private static String plain(String text) {
    return text.replace("`", "");
  }
}
