package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.Golden;
import flametop.cli.help.Reference;
import flametop.cli.help.Reference.Entry;
import flametop.cli.settings.Settings;
import flametop.profile.answer.NodeKind;
import flametop.profile.file.FoldedName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;

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
  private final Reference reference = new Reference(line);

  @Test
  void reference_isWhatTheProgramSays() throws IOException {
    Golden.assertHolds(DOCS.resolve("reference.md"), reference());
  }

  @Test
  void manualPage_isWhatTheProgramSays() throws IOException {
    Path file = DOCS.resolve("flametop.1");
    String now = Files.readString(file);
    String head = now.substring(0, now.indexOf(GENERATED));
    Golden.assertHolds(file, head + page() + now.substring(now.indexOf(BY_HAND)));
  }

  @Test
  void options_all_areExplainedInASentence() {
    for (CommandLine command : reference.commands()) {
      for (OptionSpec option : command.getCommandSpec().options()) {
        String name = command.getCommandName() + " " + option.longestName();
        assertEquals(2, option.description().length, name);
        assertTrue(option.description()[1].matches("(?s)[A-Z].*\\."), name);
      }
    }
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
    Reference.keys()
        .forEach(
            (group, entries) -> {
              text.append("\n### ").append(Reference.capital(group)).append('\n');
              table(text, List.of("key", "does", "views", "name"), entries);
            });
    for (CommandLine command : reference.commands()) {
      String name = command.getCommandName();
      text.append("\n## ")
          .append(command == line ? "Options of the screen" : Reference.capital(name))
          .append("\n\n")
          .append(String.join(" ", command.getCommandSpec().usageMessage().description()))
          .append(" `")
          .append(command == line ? name : "flametop " + name)
          .append(" --help` has the shortest form.\n");
      if (!reference.shared(command).isEmpty()) {
        text.append('\n').append(reference.shared(command)).append('\n');
      }
      if (!reference.options(command).isEmpty()) {
        table(text, List.of("option", "does"), reference.options(command));
      }
    }
    text.append("\n## Formats\n\n")
        .append("The key `e` writes all of them; `record --format` those of stacks.\n");
    table(text, List.of("format", "is", "file"), Reference.formats());
    text.append("\nIn folded stacks the end of a name tells the kind of the frame: ")
        .append(suffix(NodeKind.KERNEL, "the kernel"))
        .append(suffix(NodeKind.JIT, "code made at run time"))
        .append(suffix(NodeKind.INLINED, "inlined into its caller"))
        .append(suffix(NodeKind.PYTHON, "a function of Python"))
        .append(suffix(NodeKind.PHP, "a function of PHP"))
        .append(suffix(NodeKind.RUBY, "a function of Ruby"))
        .append("no such end: a function of a program.\n");
    text.append("\n## Exit codes\n");
    table(text, List.of("code", "means"), ExitCode.entries());
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
    for (CommandLine command : reference.commands()) {
      if (command != line) {
        text.append(".SS ").append(command.getCommandName()).append('\n');
        text.append(troff(reference.shared(command).replace("`", ""))).append('\n');
      }
      paragraphs(text, reference.options(command));
    }
    text.append(".SH KEYS\n");
    Reference.keys()
        .forEach(
            (group, entries) -> {
              text.append(".SS ").append(group).append('\n');
              paragraphs(text, entries);
            });
    text.append(".SH FORMATS\n");
    paragraphs(text, Reference.formats());
    text.append(".SH EXIT STATUS\n");
    paragraphs(text, ExitCode.entries());
    return text.toString();
  }

  private static String suffix(NodeKind kind, String meaning) {
    return "`" + FoldedName.written(kind, "f", false, false).substring(1) + "` " + meaning + ", ";
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
}
