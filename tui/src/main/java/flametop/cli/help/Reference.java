package flametop.cli.help;

import flametop.export.StackFormat;
import flametop.view.base.ExportFormat;
import flametop.view.state.KeyTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** All commands, options, keys and formats, each with a sentence. */
public final class Reference {

  private final CommandLine screen;

  /**
   * A term and its meaning.
   *
   * @param words of the term, in their order
   * @param more columns that only the page of the reference has
   */
  public record Entry(List<String> words, String text, List<String> more) {
    public Entry(String word, String text) {
      this(List.of(word), text, List.of());
    }
  }

  /**
   * @param screen the command that opens the screen, with its subcommands
   */
  public Reference(CommandLine screen) {
    this.screen = screen;
  }

  /** The screen's command, then its subcommands. */
  public List<CommandLine> commands() {
    List<CommandLine> commands = new ArrayList<>(List.of(screen));
    commands.addAll(screen.getSubcommands().values());
    return commands;
  }

  /** Keys by the heading that the help of the screen has above them. */
  public static Map<String, List<Entry>> keys() {
    Map<String, List<Entry>> groups = new LinkedHashMap<>();
    for (KeyTable.Row row : KeyTable.rows()) {
      groups
          .computeIfAbsent(row.group(), group -> new ArrayList<>())
          .add(new Entry(row.keys(), row.sentence(), List.of(row.views(), "`" + row.id() + "`")));
    }
    return groups;
  }

  /** Arguments and options of a command, without those that it shares with the screen. */
  public List<Entry> options(CommandLine command) {
    List<Entry> entries = new ArrayList<>();
    if (command == screen) {
      entries.add(
          new Entry(
              "--yes",
              "As the first argument: installs missing packages and builds without asking."));
      entries.add(
          new Entry(
              "-- COMMAND",
              "Starts a program, samples it and all that it starts, ends with it, and passes on its"
                  + " exit code. `record` has this too."));
    }
    for (PositionalParamSpec argument : command.getCommandSpec().positionalParameters()) {
      entries.add(new Entry(argument.paramLabel(), capital(argument.description()[0]) + "."));
    }
    List<OptionSpec> options = new ArrayList<>(command.getCommandSpec().options());
    options.removeIf(option -> isShared(command, option));
    options.sort((one, other) -> Integer.compare(one.order(), other.order()));
    for (OptionSpec option : options) {
      entries.add(new Entry(words(option), option.description()[1], List.of()));
    }
    return entries;
  }

  /** A sentence that names the options which a command shares with the screen; or nothing. */
  public String shared(CommandLine command) {
    List<String> names = new ArrayList<>();
    for (OptionSpec option : command.getCommandSpec().options()) {
      if (isShared(command, option)) {
        names.add("`" + option.longestName() + "`");
      }
    }
    return names.isEmpty()
        ? ""
        : "Options that do the same as those of the screen: " + String.join(", ", names) + ".";
  }

  /** Formats of exports, each with the end of its files' names. */
  public static List<Entry> formats() {
    List<Entry> entries = new ArrayList<>();
    for (ExportFormat format : ExportFormat.values()) {
      String suffix =
          format == ExportFormat.TEXT
              ? ".txt"
              : format.isPicture()
                  ? "." + format.label()
                  : StackFormat.valueOf(format.name()).suffix();
      entries.add(format(format.label(), capital(format.detail()) + ".", suffix));
    }
    entries.add(
        format(
            "json",
            "The heaviest stacks for programs; of `record`, `top` and `convert` only, where `text` is the same for people.",
            ".json"));
    entries.add(format("xstack", "A row for each task and pass; of `record` only.", ".txt"));
    entries.add(
        format(
            "flametop",
            "The recorded stream, for `--replay` and `view`; of `record` only.",
            ".flametop"));
    return entries;
  }

  private static Entry format(String name, String text, String suffix) {
    return new Entry(List.of(name), text, List.of("`" + suffix + "`"));
  }

  private boolean isShared(CommandLine command, OptionSpec option) {
    OptionSpec same = screen.getCommandSpec().findOption(option.longestName());
    return command != screen
        && same != null
        && same.description()[1].equals(option.description()[1]);
  }

  /** Names and value of an option. */
  private static List<String> words(OptionSpec option) {
    List<String> words = new ArrayList<>(List.of(option.names()));
    if (option.negatable()) {
      words.add("--no-" + option.longestName().substring(2));
    }
    if (option.arity().max() > 0) {
      String label = option.paramLabel();
      String value = option.arity().min() == 0 ? "[=" + label + "]" : " " + label;
      words.set(words.size() - 1, words.get(words.size() - 1) + value);
    }
    return words;
  }

  /** The text with a capital letter first. */
  public static String capital(String text) {
    return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
  }
}
