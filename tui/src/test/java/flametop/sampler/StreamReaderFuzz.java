package flametop.sampler;

import java.nio.ByteBuffer;

/** A recorded stream, whose checksums are not looked at. */
public final class StreamReaderFuzz {
  private StreamReaderFuzz() {}

  /** Any bytes. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    try {
      ByteBuffer file = ByteBuffer.wrap(bytes);
      int length = StreamReader.headerLength(file);
      if (length > file.remaining()) {
        return;
      }
      file.position(length);
      StreamReader reader = new StreamReader(length, false);
      while (file.hasRemaining()) {
        reader.read(GoldenStreamTest.next(file), new StreamText());
      }
    } catch (DamagedStreamException e) {
      if (e.offset() < 0 || e.offset() > bytes.length) {
        throw new IllegalStateException(e);
      }
    } catch (SamplerException e) {
      // Of a newer version.
    }
  }
}
