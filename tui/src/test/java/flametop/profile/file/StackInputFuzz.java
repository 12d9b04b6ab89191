package flametop.profile.file;

import java.io.ByteArrayInputStream;
import java.io.IOException;

/** A file of stacks, packed in any way. */
public final class StackInputFuzz {
  private static final int MOST = 1 << 22;

  private StackInputFuzz() {}

  /** Any bytes. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    byte[] room = new byte[4_093];
    try (StackInput input = StackInput.of("file", bytes.length, new ByteArrayInputStream(bytes))) {
      int all = 0;
      for (int read;
          all < MOST && (read = input.read(room, 1, room.length - 1)) >= 0;
          all += read) {
        if (read == 0) {
          throw new IllegalStateException("nothing was read");
        }
      }
      input.trails();
    } catch (IOException e) {
      // What is damaged says so.
    }
  }
}
