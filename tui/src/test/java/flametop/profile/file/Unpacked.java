package flametop.profile.file;

import java.io.IOException;
import java.io.InputStream;

/** For what fuzzes: reads as far as a stream can be read, within bounds. */
final class Unpacked {
  private static final int MOST = 1 << 22;

  private Unpacked() {}

  static void read(InputStream stream) {
    byte[] room = new byte[4_093];
    try (stream) {
      for (int all = 0; all < MOST; ) {
        int read = stream.read(room, 1, room.length - 1);
        if (read == 0 || read >= room.length) {
          throw new IllegalStateException("read gave " + read);
        }
        if (read < 0) {
          return;
        }
        all += read;
      }
    } catch (IOException e) {
      // What is damaged says so.
    }
  }
}
