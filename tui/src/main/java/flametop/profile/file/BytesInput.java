package flametop.profile.file;

import java.io.IOException;
import java.io.InputStream;

/** Bytes that are read many at a time. */
abstract class BytesInput extends InputStream {
  @Override
  public final int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public abstract int read(byte[] into, int from, int room) throws IOException;
}
