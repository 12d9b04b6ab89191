package flametop.term;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RemoteTest {
  @TempDir private Path proc;

  private void process(String folder, String comm, int parent) throws IOException {
    Files.createDirectories(proc.resolve(folder));
    Files.writeString(
        proc.resolve(folder).resolve("stat"), "7 (" + comm + ") S " + parent + " 7 7 0 -1\n");
  }

  @Test
  void isRemote_environmentOfSsh_is() {
    assertTrue(Remote.isRemote(Map.of("SSH_CONNECTION", "10.0.0.1 1 10.0.0.2 22"), proc));
    assertFalse(Remote.isRemote(Map.of("SUDO_UID", "1000"), proc));
  }

  @Test
  void isRemote_sudoBelowAnSshServer_is() throws IOException {
    process("self", "java", 40);
    process("40", "a ) odd", 30);
    process("30", "sshd-session", 1);
    process("1", "systemd", 0);
    assertTrue(Remote.isRemote(Map.of("SUDO_UID", "1000"), proc));
    process("40", "a ) odd", 1);
    assertFalse(Remote.isRemote(Map.of("SUDO_UID", "1000"), proc));
  }
}
