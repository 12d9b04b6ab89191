package flametop.profile.file;

import java.io.ByteArrayInputStream;

/** A file packed by gzip. */
public final class GzipInputFuzz {
  private GzipInputFuzz() {}

  /** Any bytes. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    Unpacked.read(new GzipInput(new ByteArrayInputStream(bytes)));
  }
}
