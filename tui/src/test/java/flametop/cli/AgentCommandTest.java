package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import flametop.agent.Store;
import flametop.cli.settings.AgentOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The settings of {@code flametop agent}, of its command line and its file. */
class AgentCommandTest {
  @TempDir private Path folder;

  private static final String URL = "https://store.example.org";

  private static AgentOptions.Given read(Map<String, String> environment, String... words)
      throws IOException {
    AgentOptions options = new AgentOptions();
    new CommandLine(new Holder(options)).parseArgs(words);
    return options.read(environment);
  }

  private static AgentOptions.Given read(String... words) throws IOException {
    return read(Map.of(), words);
  }

  /** A command with these options alone. */
  @CommandLine.Command
  private static final class Holder {
    @CommandLine.Mixin
    @SuppressWarnings("unused") // picocli looks at the annotation
    private final AgentOptions options;

    Holder(AgentOptions options) {
      this.options = options;
    }
  }

  private String config(String... lines) throws IOException {
    return Files.write(folder.resolve("agent.conf"), List.of(lines)).toString();
  }

  @ParameterizedTest
  @CsvSource({
    "http://a:4040, PYROSCOPE, http://a:4040/push.v1.PusherService/Push",
    "https://a:7070/, PARCA, https://a:7070/api/profiles/writeraw",
    "http://a:4318/base/, OTLP, http://a:4318/base/v1development/profiles",
    "http://[::1]:4040, PYROSCOPE, http://[::1]:4040/push.v1.PusherService/Push",
    "https://a/x/push.v1.PusherService/Push, PYROSCOPE, https://a/x/push.v1.PusherService/Push",
    "https://a:4040/v1development/profiles, OTLP, https://a:4040/v1development/profiles"
  })
  void read_urlAlone_storeAndWholeUrl(String url, Store store, String whole) throws IOException {
    AgentOptions.Given given = read("--push", url);
    assertEquals(store, given.push().store());
    assertEquals(whole, given.push().url().toString());
    assertEquals(url.startsWith("https"), given.push().tls() != null);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a:4040",
        "ftp://a:4040",
        "http://user:word@a:4040",
        "http://user@a:4040",
        "http:///x:4040",
        "http://a:4040?token=x",
        "http://a:4040/#x",
        "http://a b:4040",
        ""
      })
  void read_noUrlOfAStore_refusedByTheNameOfTheOptionWithoutItsPassword(String url) {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> read("--push", url));
    assertTrue(refused.getMessage().startsWith("push: "), refused.getMessage());
    assertFalse(refused.getMessage().contains("word@"), refused.getMessage());
  }

  @Test
  void read_nothingSaysTheKind_refused() {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> read("--push", URL));
    assertTrue(refused.getMessage().contains("--to pyroscope"), refused.getMessage());
    assertThrows(IllegalArgumentException.class, AgentCommandTest::read);
  }

  @Test
  void read_fileAndCommandLine_commandLineWins() throws IOException {
    String config =
        config(
            "# a comment",
            "push = " + URL,
            "to = parca # the old one",
            "every = 30",
            "label = env=test",
            "label = rack = 7",
            "spool = " + folder.resolve("spool"),
            "spool-size = 3",
            "metrics = 127.0.0.1:9464");
    AgentOptions.Given given = read("--config", config);
    assertEquals(Store.PARCA, given.push().store());
    assertEquals(TimeUnit.SECONDS.toNanos(30), given.push().everyNanos());
    assertEquals(Map.of("env", "test", "rack", "7"), given.push().labels());
    assertEquals(folder.resolve("spool"), given.spool());
    assertEquals(3 << 20, given.spoolBytes());
    assertEquals("127.0.0.1:9464", given.metrics());
    AgentOptions.Given other =
        read("--config", config, "--to", "otlp", "--every", "5", "--label", "env=live");
    assertEquals(Store.OTLP, other.push().store());
    assertEquals(TimeUnit.SECONDS.toNanos(5), other.push().everyNanos());
    assertEquals("live", other.push().labels().get("env"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "evry = 3 | :2: no such setting: evry; there are push, to,",
        "every 3 | :2: no '='",
        "every = 0 | every: '0' is no whole number from 1 to 300",
        "to = influx | to: 'influx' is none of pyroscope, parca, otlp",
        "label = a-b=c | label 'a-b=c' is not NAME=VALUE",
        "label = __name__=c | is not NAME=VALUE",
        "label = a= | is not NAME=VALUE",
        "spool-size = 1000000 | spool-size: '1000000' is no whole number"
      })
  void read_wrongLine_saysWhichAndWhy(String line, String says) throws IOException {
    String config = config("push = http://a:4040", line);
    IllegalArgumentException wrong =
        assertThrows(IllegalArgumentException.class, () -> read("--config", config));
    assertTrue(wrong.getMessage().contains(says), wrong.getMessage());
  }

  @Test
  void read_token_ofTheFileBeforeTheEnvironmentAndToldIfInTheOpen() throws IOException {
    Path token = Files.writeString(folder.resolve("token"), "secret-word\n");
    Map<String, String> environment = Map.of("FLAMETOP_TOKEN", "two words");
    assertNull(read("--push", "http://a:4040").push().token());
    AgentOptions.Given given =
        read(environment, "--push", "http://a:4040", "--token-file", token.toString());
    assertNotNull(given.push().token());
    assertTrue(given.notice().contains("plain HTTP"), given.notice());
    assertFalse(given.toString().contains("secret"), given.toString());
    assertEquals(
        "", read(Map.of("FLAMETOP_TOKEN", "x"), "--push", "http://127.0.0.1:4040").notice());
    IOException bad =
        assertThrows(IOException.class, () -> read(environment, "--push", "http://a:4040"));
    assertFalse(bad.getMessage().contains("two"), bad.getMessage());
    IOException gone =
        assertThrows(
            IOException.class,
            () -> read("--push", "http://a:4040", "--token-file", folder + "/none"));
    assertTrue(gone.getMessage().endsWith("cannot be read: it is not there"), gone.getMessage());
  }

  @Test
  void read_certificatesOfNoPem_refused() throws IOException {
    Path none = Files.writeString(folder.resolve("ca"), "nothing");
    assertThrows(
        IOException.class, () -> read("--push", "https://a:4040", "--ca", none.toString()));
  }

  @Test
  void agent_withoutStore_usage() {
    StringWriter err = new StringWriter();
    CommandLine line = Main.commandLine(new Interruption(), List.of());
    line.setErr(new PrintWriter(err, true));
    assertEquals(2, line.execute("agent"));
    assertTrue(err.toString().contains("agent has no store to send to"), err::toString);
    assertEquals(2, line.execute("agent", "--push", "http://a:4040", "--every", "301"));
    assertEquals(2, line.execute("agent", "--push", "http://a:4040", "--metrics", "0.0.0.0:1"));
    assertEquals(
        1, err.toString().lines().filter(l -> l.contains("of this machine alone")).count());
  }
}
