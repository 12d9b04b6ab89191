package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** {@code flametop help} and {@code flametop completion}. */
class HelpTest {
  private static final Pattern TOPIC = Pattern.compile("^  (\\S+) ", Pattern.MULTILINE);

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private ExitCode run(String... words) {
    CommandLine line = Main.commandLine(new Interruption(), List.of());
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    int code = line.execute(words);
    return code == 0 ? ExitCode.DONE : ExitCode.USAGE;
  }

  @Test
  void help_withoutTopic_listsTopicsThatAllHaveAText() {
    assertEquals(ExitCode.DONE, run("help"));
    List<String> topics = TOPIC.matcher(out.toString()).results().map(m -> m.group(1)).toList();
    assertTrue(
        topics.containsAll(List.of("record", "diff", "keys", "words", "settings")), out::toString);
    for (String topic : topics) {
      out.getBuffer().setLength(0);
      assertEquals(ExitCode.DONE, run("help", topic), topic);
      assertTrue(out.toString().lines().count() > 4, () -> topic + ": " + out);
      if (!topic.equals("settings")) {
        out.toString().lines().forEach(l -> assertTrue(l.length() <= 80, () -> topic + ": " + l));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "record, Samples for so many seconds",
    "keys, Freezes",
    "words, tasks that wait for a disk",
    "formats, Gzipped profile.proto",
    "exit-codes, The command line is wrong",
    "settings, theme ="
  })
  void help_topic_explainsIt(String topic, String words) {
    assertEquals(ExitCode.DONE, run("help", topic));
    assertTrue(out.toString().contains(words), out::toString);
  }

  @Test
  void help_unknownTopic_namesAll() {
    assertEquals(ExitCode.USAGE, run("help", "nonsense"));
    assertTrue(
        err.toString().contains("'nonsense' is no topic; there are flametop, record"),
        err::toString);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "fla rec | record",
        "fla record --form | --format",
        "fla record --format sp | speedscope",
        "fla record --by anc | ancestor",
        "fla diff --th | --theme"
      })
  void completion_bash_completes(String typed, String completed, @TempDir Path folder)
      throws IOException, InterruptedException {
    assertEquals(ExitCode.DONE, run("completion", "bash"));
    Path script = Files.writeString(folder.resolve("flametop.bash"), out.toString());
    String asked =
        """
        . "$1"; shift
        COMP_WORDS=(flametop "${@:2}"); COMP_CWORD=$(($# - 1)); COMP_LINE="${COMP_WORDS[*]}"; COMP_POINT=${#COMP_LINE}
        _complete_flametop
        printf '%s\\n' "${COMPREPLY[@]}"
        """;
    List<String> command = new ArrayList<>(List.of("bash", "-c", asked, "bash", script.toString()));
    command.addAll(List.of(typed.split(" ")));
    Process bash = new ProcessBuilder(command).redirectErrorStream(true).start();
    String replies = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, bash.waitFor(), replies);
    assertTrue(replies.lines().anyMatch(reply -> reply.strip().equals(completed)), replies);
  }

  @Test
  void completion_fish_hasEachOptionOfEachCommand() {
    assertEquals(ExitCode.DONE, run("completion", "fish"));
    for (String line :
        List.of(
            "-n 'not __fish_seen_subcommand_from record top agent view diff convert check events help completion' -f -a record",
            "-n '__fish_seen_subcommand_from record' -l format -x -a 'folded speedscope",
            "-n '__fish_seen_subcommand_from diff' -l comm -l no-comm")) {
      assertTrue(out.toString().contains("complete -c flametop " + line), () -> line + "\n" + out);
    }
    out.toString()
        .lines()
        .filter(line -> !line.startsWith("#"))
        .forEach(
            line ->
                assertEquals(
                    0, line.replace("\\'", "").chars().filter(c -> c == '\'').count() % 2, line));
  }

  @Test
  void completion_anotherShell_namesThoseThereAre() {
    assertEquals(ExitCode.USAGE, run("completion", "csh"));
    assertTrue(err.toString().contains("'csh' is none of bash, zsh, fish"), err::toString);
  }
}
