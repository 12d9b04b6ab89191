package flametop.profile.file;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** What packed bytes unpack to; the packed ones are read a piece at a time. */
abstract class PackedInput extends BytesInput {
  /** Behind the end of packed data there is something that is not packed. */
  static final class TrailingData extends IOException {
    private static final long serialVersionUID = 1;
  }

  final InputStream packed;

  /** The piece, of which the bytes from {@link #at} to {@link #end} are to be taken. */
  byte[] buffer = new byte[1 << 16];

  int at;
  int end;

  PackedInput(InputStream packed) {
    this.packed = packed;
  }

  /** Reads the next piece; false if there is none. */
  final boolean fill() throws IOException {
    int count = packed.read(buffer, 0, buffer.length);
    at = 0;
    end = Math.max(0, count);
    return count > 0;
  }

  /** The next byte. */
  final int octet() throws IOException {
    if (at == end && !fill()) {
      throw new EOFException();
    }
    return buffer[at++] & 0xFF;
  }

  @Override
  public final void close() throws IOException {
    packed.close();
  }
}
