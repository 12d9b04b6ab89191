package flametop.term.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HelperTest {
  @Test
  void command_helperThere_namesItByItsFullPath(@TempDir Path folder) throws IOException {
    Path program = Files.createFile(folder.resolve("flametop-helper"));
    assertTrue(program.toFile().setExecutable(true));
    assertEquals(
        List.of(program.toString(), "run", "two words"),
        Helper.command(folder.toString(), List.of("run", "two words")));
  }

  @Test
  void command_helperMissing_namesTheFile(@TempDir Path folder) {
    IOException told =
        assertThrows(IOException.class, () -> Helper.command(folder.toString(), List.of("size")));
    assertTrue(String.valueOf(told.getMessage()).contains("flametop-helper is missing"));
  }

  @Test
  void command_folderUnknown_saysSo() {
    IOException told = assertThrows(IOException.class, () -> Helper.command("", List.of("size")));
    assertTrue(String.valueOf(told.getMessage()).contains("is not known"));
  }
}
