package flametop.profile.file;

import java.io.ByteArrayInputStream;

/** A file packed by bzip2. */
public final class Bzip2InputFuzz {
  private Bzip2InputFuzz() {}

  /** Any bytes. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    Unpacked.read(new Bzip2Input(new ByteArrayInputStream(bytes)));
  }
}
