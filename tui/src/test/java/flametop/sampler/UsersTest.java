package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UsersTest {
  @TempDir private Path folder;

  private Users users;

  @BeforeEach
  void passwd() throws IOException {
    String lines = "root:x:0:0::/:/bin/sh\nev\u001Bil:x:7:7::/:\njunk\nbig:x:4294967294:1::/:\n";
    users = new Users(Files.writeString(folder.resolve("passwd"), lines));
  }

  @Test
  void name_knownAndUnknown_cleanNameOrNumber() {
    assertEquals("root", users.name(0));
    assertEquals("ev\uFFFDil", users.name(7));
    assertEquals("12", users.name(12));
    assertEquals("big", users.name(-2), "uids are unsigned");
    assertEquals("4294967295", users.name(-1));
  }

  @Test
  void uid_nameOrNumber_found() {
    assertEquals(OptionalInt.of(0), users.uid("root"));
    assertEquals(OptionalInt.of(1000), users.uid("1000"));
    assertEquals(OptionalInt.empty(), users.uid("nobody-here"));
  }

  @Test
  void users_noFile_numbers() {
    assertEquals("0", new Users(folder.resolve("none")).name(0));
  }
}
