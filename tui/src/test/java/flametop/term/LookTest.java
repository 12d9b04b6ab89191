package flametop.term;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LookTest {
  @TempDir private Path folder;

  @Test
  void drawn_environments_told() {
    assertEquals("", Look.drawn(Map.of("TERM", "dumb")));
    assertEquals("", Look.drawn(Map.of()));
    assertEquals(
        "256 colours, UTF-8", Look.drawn(Map.of("TERM", "xterm-256color", "LANG", "C.UTF-8")));
    assertEquals("16 colours, ASCII", Look.drawn(Map.of("TERM", "linux", "LANG", "C.UTF-8")));
    assertEquals(
        "no colours, ASCII", Look.drawn(Map.of("TERM", "xterm-256color", "NO_COLOR", "1")));
  }

  @Test
  void faultyThemes_ofTheUser_named() throws IOException {
    UserFiles user = UserFiles.of(Map.of("XDG_CONFIG_HOME", folder.toString()));
    List<String> before = Look.faultyThemes(user);
    Path mine = Files.createDirectories(folder.resolve("flametop/themes"));
    Files.writeString(mine.resolve("odd.theme"), "no such line\n");
    List<String> faults = Look.faultyThemes(user);
    assertEquals(before.size() + 1, faults.size(), faults.toString());
    assertTrue(faults.stream().anyMatch(fault -> fault.contains("odd.theme")), faults.toString());
  }
}
