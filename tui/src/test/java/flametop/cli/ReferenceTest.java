package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.cli.settings.Settings;
import flametop.export.StackFormat;
import flametop.profile.answer.NodeKind;
import flametop.profile.file.FoldedName;
import flametop.view.base.ExportFormat;
import flametop.view.state.KeyTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * {@code docs/reference.md} and the options, keys, formats and exit codes of {@code
 * docs/flametop.1} are what the program says of itself. {@code -Dflametop.golden.update=true}
 * writes both anew.
 */
class ReferenceTest {
  private static final Path DOCS =
      Path.of(System.getProperty("flametop.themes.dir")).resolveSibling("docs");

  /** The manual page is written by hand before the first and from the second on. */
  private static final String GENERATED = ".SH OPTIONS\n";

  private static final String BY_HAND = ".SH EXPORT\n";

  private final CommandLine line = Main.commandLine(new Interruption(), List.of());

  /**
   * A term and what it means.
   *
   * @param words of the term, in their order
   * @param more columns that only the reference has
   */
  private record Entry(List<String> words, String text, List<String> more) {}

  @Test
  void reference_isWhatTheProgramSays() throws IOException {
    holds(DOCS.resolve("reference.md"), reference());
  }

  @Test
  void manualPage_isWhatTheProgramSays() throws IOException {
    Path file = DOCS.resolve("flametop.1");
    String now = Files.readString(file);
    String head = now.substring(0, now.indexOf(GENERATED));
    holds(file, head + page() + now.substring(now.indexOf(BY_HAND)));
  }

  @Test
  void options_all_areExplainedInASentence() {
    for (CommandLine command : commands()) {
      for (OptionSpec option : command.getCommandSpec().options()) {
        String name = command.getCommandName() + " " + option.longestName();
        assertEquals(2, option.description().length, name);
        assertTrue(option.description()[1].matches("(?s)[A-Z].*\\."), name);
      }
    }
  }

  private static void holds(Path file, String text) throws IOException {
    if (Boolean.getBoolean("flametop.golden.update")) {
      Files.writeString(file, text);
    }
    assertEquals(
        text,
        Files.readString(file),
        () -> file + " is not what the program says; -Dflametop.golden.update=true writes it");
  }

  private String reference() {
    StringBuilder text =
        new StringBuilder(
            """
            # Reference

            This file is generated from the program by `ReferenceTest`; do not edit it. The [manual](manual.md)
            explains how to use all of it, task by task.

            ## Keys

            *Views* says which views have the key; views of files (`flametop view`, `flametop diff`) are named behind
            *files* where they differ, and a key behind *live* has no meaning for a file. *Name* is the name of the key in the [configuration](#settings).
            """);
    keys()
        .forEach(
            (group, entries) -> {
              text.append("\n### ").append(capital(group)).append('\n');
              table(text, List.of("key", "does", "views", "name"), entries);
            });
    for (CommandLine command : commands()) {
      String name = command.getCommandName();
      text.append("\n## ")
          .append(command == line ? "Options of the screen" : capital(name))
          .append("\n\n")
          .append(String.join(" ", command.getCommandSpec().usageMessage().description()))
          .append(" `")
          .append(command == line ? name : "flametop " + name)
          .append(" --help` has the shortest form.\n");
      if (!shared(command).isEmpty()) {
        text.append('\n').append(shared(command)).append('\n');
      }
      if (!options(command).isEmpty()) {
        table(text, List.of("option", "does"), options(command));
      }
    }
    text.append("\n## Formats\n\n")
        .append("The key `e` writes all of them; `record --format` those of stacks.\n");
    table(text, List.of("format", "is", "file"), formats());
    text.append("\nIn folded stacks the end of a name tells the kind of the frame: ")
        .append(suffix(NodeKind.KERNEL, "the kernel"))
        .append(suffix(NodeKind.JIT, "code made at run time"))
        .append(suffix(NodeKind.INLINED, "inlined into its caller"))
        .append(suffix(NodeKind.PYTHON, "a function of Python"))
        .append(suffix(NodeKind.PHP, "a function of PHP"))
        .append("no such end: a function of a program.\n");
    text.append("\n## Exit codes\n");
    table(text, List.of("code", "means"), exitCodes());
    String settings = Settings.example();
    return text.append(
            """

            ## Settings

            `flametop --print-config` prints a configuration with all settings and keys as they are by default:

            ```
            """)
        .append(settings, 0, settings.indexOf("# key."))
        .append("# key.freeze = v f5\n```\n")
        .toString();
  }

  private String page() {
    StringBuilder text = new StringBuilder(GENERATED);
    for (CommandLine command : commands()) {
      if (command != line) {
        text.append(".SS ").append(command.getCommandName()).append('\n');
        text.append(troff(shared(command).replace("`", ""))).append('\n');
      }
      paragraphs(text, options(command));
    }
    text.append(".SH KEYS\n");
    keys()
        .forEach(
            (group, entries) -> {
              text.append(".SS ").append(group).append('\n');
              paragraphs(text, entries);
            });
    text.append(".SH FORMATS\n");
    paragraphs(text, formats());
    text.append(".SH EXIT STATUS\n");
    paragraphs(text, exitCodes());
    return text.toString();
  }

  /** The screen's, then those of its subcommands. */
  private List<CommandLine> commands() {
    List<CommandLine> commands = new ArrayList<>(List.of(line));
    commands.addAll(line.getSubcommands().values());
    return commands;
  }

  private static Map<String, List<Entry>> keys() {
    Map<String, List<Entry>> groups = new LinkedHashMap<>();
    for (KeyTable.Row row : KeyTable.rows()) {
      groups
          .computeIfAbsent(row.group(), group -> new ArrayList<>())
          .add(new Entry(row.keys(), row.sentence(), List.of(row.views(), "`" + row.id() + "`")));
    }
    return groups;
  }

  /** Arguments and options of a command, without those that it shares with the screen. */
  private List<Entry> options(CommandLine command) {
    List<Entry> entries = new ArrayList<>();
    if (command == line) {
      entries.add(
          new Entry(
              List.of("--yes"),
              "As the first argument: installs missing packages and builds without asking.",
              List.of()));
      entries.add(
          new Entry(
              List.of("-- COMMAND"),
              "Starts a program, samples it and all that it starts, ends with it, and passes on its"
                  + " exit code. `record` has this too.",
              List.of()));
    }
    for (PositionalParamSpec argument : command.getCommandSpec().positionalParameters()) {
      String text = capital(argument.description()[0]) + ".";
      entries.add(new Entry(List.of(argument.paramLabel()), text, List.of()));
    }
    List<OptionSpec> options = new ArrayList<>(command.getCommandSpec().options());
    options.removeIf(option -> isShared(command, option));
    options.sort((one, other) -> Integer.compare(one.order(), other.order()));
    for (OptionSpec option : options) {
      entries.add(new Entry(words(option), option.description()[1], List.of()));
    }
    return entries;
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

  private boolean isShared(CommandLine command, OptionSpec option) {
    OptionSpec same = line.getCommandSpec().findOption(option.longestName());
    return command != line && same != null && same.description()[1].equals(option.description()[1]);
  }

  /** A sentence that names the options which a command shares with the screen; or nothing. */
  private String shared(CommandLine command) {
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

  private static String suffix(NodeKind kind, String meaning) {
    return "`" + FoldedName.written(kind, "f", false, false).substring(1) + "` " + meaning + ", ";
  }

  private static List<Entry> formats() {
    List<Entry> entries = new ArrayList<>();
    for (ExportFormat format : ExportFormat.values()) {
      String suffix =
          format == ExportFormat.TEXT
              ? ".txt"
              : format.isPicture()
                  ? "." + format.label()
                  : StackFormat.valueOf(format.name()).suffix();
      entries.add(
          new Entry(
              List.of(format.label()),
              capital(format.detail()) + ".",
              List.of("`" + suffix + "`")));
    }
    entries.add(
        new Entry(
            List.of("json"),
            "The heaviest stacks for programs; of `record`, `top` and `convert` only, where `text` is the same for people.",
            List.of("`.json`")));
    entries.add(
        new Entry(
            List.of("xstack"),
            "A row for each task and pass; of `record` only.",
            List.of("`.txt`")));
    entries.add(
        new Entry(
            List.of("flametop"),
            "The recorded stream, for `--replay` and `view`; of `record` only.",
            List.of("`.flametop`")));
    return entries;
  }

  private static List<Entry> exitCodes() {
    List<Entry> entries = new ArrayList<>();
    for (ExitCode code : ExitCode.values()) {
      entries.add(new Entry(List.of("" + code.number()), code.sentence(), List.of()));
    }
    entries.add(
        new Entry(
            List.of("128 + n"),
            "Another signal n ended it; `record` writes its output at TERM and HUP too.",
            List.of()));
    entries.add(
        new Entry(List.of("any"), "With `-- COMMAND`: the exit code of the command.", List.of()));
    return entries;
  }

  private static void table(StringBuilder text, List<String> titles, List<Entry> entries) {
    text.append("\n| ").append(String.join(" | ", titles)).append(" |\n");
    text.append("|---".repeat(titles.size())).append("|\n");
    for (Entry entry : entries) {
      text.append('|');
      for (String word : entry.words()) {
        text.append(" `").append(word.replace("|", "\\|")).append('`');
      }
      text.append(" | ").append(entry.text().replace("|", "\\|"));
      entry.more().forEach(column -> text.append(" | ").append(column));
      text.append(" |\n");
    }
  }

  private static void paragraphs(StringBuilder text, List<Entry> entries) {
    for (Entry entry : entries) {
      text.append(".TP\n.B ")
          .append(troff(String.join(" ", entry.words())))
          .append('\n')
          .append(troff(entry.text().replace("`", "")))
          .append('\n');
    }
  }

  private static String troff(String text) {
    String escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq");
    escaped =
        Pattern.compile("[^\\x00-\\x7f]")
            .matcher(escaped)
            .replaceAll(
                found -> String.format(Locale.ROOT, "\\\\[u%04X]", found.group().codePointAt(0)));
    return escaped.startsWith(".") ? "\\&" + escaped : escaped;
  }

  private static String capital(String text) {
    return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
  }
}
