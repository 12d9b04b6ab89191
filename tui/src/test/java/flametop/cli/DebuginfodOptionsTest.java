package flametop.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class DebuginfodOptionsTest {
  private static final Map<String, String> SET =
      Map.of("DEBUGINFOD_URLS", " http://a\n\thttps://b/x ");

  @Command(separator = " ")
  private static final class Line {
    @Mixin final DebuginfodOptions debuginfod = new DebuginfodOptions();
  }

  @TempDir Path folder;

  private String servers(Map<String, String> environment, String... arguments) {
    Line line = new Line();
    new CommandLine(line).parseArgs(DebuginfodOptions.parted(arguments));
    assertEquals(arguments.length > 0, line.debuginfod.given());
    return line.debuginfod.servers(environment, folder);
  }

  @Test
  void servers_nothingGiven_areThoseOfTheEnvironment() {
    assertEquals("", servers(Map.of()));
    assertEquals("", servers(Map.of("DEBUGINFOD_URLS", "  ")));
    assertEquals("http://a https://b/x", servers(SET));
  }

  @Test
  void servers_optionAlone_areThoseOfTheEnvironmentOrTheSystem() throws IOException {
    assertEquals("http://a https://b/x", servers(SET, "--debuginfod"));
    Files.writeString(folder.resolve("b.urls"), "https://c\n");
    Files.writeString(folder.resolve("a.urls"), "https://d\n");
    Files.writeString(folder.resolve("notes"), "https://e\n");
    assertEquals("https://d https://c", servers(Map.of(), "--debuginfod"));
  }

  @Test
  void servers_optionAloneAndNoneKnown_isRefusedWithTheWayOut() {
    Failure.Ends refused =
        assertThrows(Failure.Ends.class, () -> servers(Map.of(), "--debuginfod"));
    assertTrue(refused.getMessage().contains("DEBUGINFOD_URLS"), refused.getMessage());
  }

  @Test
  void servers_given_winOverTheEnvironment() {
    assertEquals("http://c http://d", servers(SET, "--debuginfod", "http://c http://d"));
    assertEquals("http://c", servers(SET, "--debuginfod=http://c"));
  }

  @Test
  void servers_offOrEmpty_areNone() {
    assertEquals("", servers(SET, "--no-debuginfod"));
    assertEquals("", servers(SET, "--debuginfod="));
    assertEquals("", servers(SET, "--debuginfod", ""));
    assertThrows(Failure.Ends.class, () -> servers(SET, "--no-debuginfod", "--debuginfod"));
  }
}
