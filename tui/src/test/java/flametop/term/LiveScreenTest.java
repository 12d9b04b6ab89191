package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The live screen in a real terminal: {@link DemoScreen} in tmux. */
class LiveScreenTest {
  /**
   * Only so that a hung screen ends the test; each wait ends as soon as what it waits for is there.
   */
  private static final long PATIENCE_MILLIS = 120_000;

  @TempDir private Path folder;
  private String socket;

  @BeforeEach
  void startTmux() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/tmux")), "tmux is missing: apt install tmux");
    socket = folder.resolve("tmux").toString();
    tmux(
        "-u -f /dev/null new-session -d -x 100 -y 28 -s screen",
        "env PS1='ready> ' LC_ALL=C.UTF-8 bash --norc");
    await("ready>");
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    String run =
        """
        stty -a | tail -n +2 > %1$s/before
        %2$s -XX:+UseSerialGC -Dflametop.themes.dir=%3$s -Dflametop.native.dir=%4$s -cp '%5$s' %6$s "$@"
        echo code=$?
        stty -a | tail -n +2 > %1$s/after
        echo done
        """;
    Files.writeString(
        folder.resolve("run"),
        run.formatted(
            folder,
            java,
            Path.of("../themes").toAbsolutePath().normalize(),
            System.getProperty("flametop.native.dir"),
            System.getProperty("java.class.path"),
            DemoScreen.class.getName()));
  }

  @AfterEach
  void stopTmux() throws Exception {
    if (socket != null) {
      tmux("kill-server");
    }
  }

  /**
   * @param line words with a space between two
   * @param more words that may have spaces
   */
  private String tmux(String line, String... more) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("/usr/bin/tmux", "-S", socket));
    command.addAll(List.of(line.split(" ")));
    command.addAll(List.of(more));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.environment().remove("TMUX");
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }

  private String pane() throws Exception {
    return tmux("capture-pane -p -t screen");
  }

  private String await(String text) throws Exception {
    return await("not shown: " + text, shown -> shown.contains(text));
  }

  /** The numbers stand under each other, where there is room. */
  private String awaitSelected(String name, String number) throws Exception {
    Pattern line = Pattern.compile(Pattern.quote(name) + "  +" + number);
    return await("not selected: " + name, shown -> line.matcher(shown).find());
  }

  private String await(String failure, Predicate<String> wanted) throws Exception {
    long end = System.nanoTime() + PATIENCE_MILLIS * 1_000_000;
    String shown = "";
    while (System.nanoTime() < end) {
      shown = pane();
      if (wanted.test(shown)) {
        return shown;
      }
      Thread.sleep(50);
    }
    return fail(failure + "\n" + shown);
  }

  /** What is typed while the shell takes the terminal back may be lost; then it shows this. */
  private void awaitPrompt() throws Exception {
    await("no prompt", shown -> shown.stripTrailing().endsWith("ready>"));
  }

  private void start(String... arguments) throws Exception {
    press("bash " + folder.resolve("run") + " " + String.join(" ", arguments), "Enter");
  }

  private void press(String... keys) throws Exception {
    for (String key : keys) {
      tmux("send-keys -t screen", key);
    }
  }

  private void assertRestored() throws Exception {
    await("done");
    assertEquals(
        Files.readString(folder.resolve("before")), Files.readString(folder.resolve("after")));
    assertFalse(pane().contains("flametop web-1"), "the screen is gone");
  }

  @Test
  void run_aSession_answersEachKeyAndLeavesTheTerminalAsItWas() throws Exception {
    Path open = folder.resolve("open");
    start("after", open.toString());
    await("opening");
    Files.createFile(open);
    await("live 00:42");
    press("Down");
    awaitSelected("redis-server", "4");
    press("Down", "Down", "Down", "Down");
    awaitSelected("connSocketEventHandler", "2");
    press("Enter", "Down");
    awaitSelected("readQueryFromClient", "2");
    await("of zoom");
    press("Escape");
    press("/", "tcp_");
    await("matched 14.8%");
    press("Enter");
    await("match 1 of 3");
    press("Escape");
    await("search closed");
    press("p");
    await("postgres: app");
    press("redis", "Enter");
    await("only pid 812 redis-server");
    press("Space");
    await("frozen +12 s");
    press("e");
    await("export as");
    press("Enter");
    await("wrote flametop.folded");
    press("Space");
    await("live again");
    tmux("resize-window -t screen -x 200 -y 40");
    await("412 tasks");
    tmux("resize-window -t screen -x 39 -y 9");
    await("is too small");
    tmux("resize-window -t screen -x 100 -y 28");
    await("live 00:42");
    press("w");
    await("w does nothing here");
    press("q");
    await("code=0");
    assertRestored();
    await("wrote flametop.folded");
  }

  @ParameterizedTest
  @CsvSource({"TERM, 143", "HUP, 129", "INT, 130"})
  void run_signal_leavesTheTerminalAsItWas(String signal, int code) throws Exception {
    start();
    await("live 00:42");
    String shell = tmux("display-message -p -t screen", "#{pane_pid}").strip();
    long java =
        ProcessHandle.of(Long.parseLong(shell))
            .orElseThrow()
            .descendants()
            .filter(p -> p.info().command().orElse("").endsWith("/java"))
            .findFirst()
            .orElseThrow()
            .pid();
    new ProcessBuilder("/bin/sh", "-c", "kill -" + signal + " " + java).start().waitFor();
    await("code=" + code);
    assertRestored();
  }

  @Test
  void run_keysTypedAhead_actOnTheAnswerToThoseBefore() throws Exception {
    start("slow");
    await("live 00:42");
    tmux("send-keys -t screen", "6", "Down", "Enter");
    await("1 CPU marked");
    press("1");
    await("space freeze");
    tmux("send-keys -t screen", "/", "readQ", "Enter", "s");
    await("readQueryFromClient  redis-server");
    press("q");
    await("ready>");
  }

  @Test
  void run_sessionThatCannotOpen_saysWhyInOneLine() throws Exception {
    start("fail");
    await("flametop: BPF refused: run as root");
    await("code=1");
    assertRestored();
    assertFalse(pane().contains("Exception"));
  }

  @Test
  void run_stopped_givesTheTerminalBackMeanwhile() throws Exception {
    start();
    await("live 00:42");
    press("C-z");
    await("Stopped");
    awaitPrompt();
    assertFalse(pane().contains("live 00:42"));
    press("fg", "Enter");
    await("live 00:42");
    press("q");
    await("code=0");
    assertRestored();
  }
}
