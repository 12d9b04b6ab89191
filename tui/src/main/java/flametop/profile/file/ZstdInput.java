package flametop.profile.file;

import io.airlift.compress.zstd.ZstdIncrementalFrameDecompressor;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/**
 * Unpacks zstd, all frames of it. The decoder gets its input in the pieces that it asks for: what
 * came before damage is out by then, and what stands behind a frame is looked at first.
 */
final class ZstdInput extends PackedInput {
  private static final int MAGIC = 0xFD2FB528;
  private static final int MAGIC_BYTES = 4;

  /** Of frames that hold no data: 16 of them, by their last four bits. */
  private static final int SKIPPED = 0x184D2A50;

  /**
   * Where an array begins, as the decoder counts; asked in a way that the compiler does not see.
   */
  private static final long BASE = base();

  /** The decoder may read so much more than it has asked for. */
  private static final int BEYOND = Long.BYTES;

  private final ZstdIncrementalFrameDecompressor decoder = new ZstdIncrementalFrameDecompressor();
  private boolean begun;

  /** Unpacks what begins with a frame. */
  ZstdInput(InputStream packed) {
    super(packed);
  }

  private static long base() {
    try {
      return Class.forName("sun.misc.Unsafe").getField("ARRAY_BYTE_BASE_OFFSET").getInt(null);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public int read(byte[] into, int from, int room) throws IOException {
    while (true) {
      int required = decoder.getInputRequired();
      if (begun && required > 0 && decoder.isAtStoppingPoint() && !toNextFrame()) {
        return -1;
      }
      begun = true;
      if (!have(required)) {
        throw new EOFException();
      }
      long address = BASE + at;
      decoder.partialDecompress(buffer, address, address + required, into, from, from + room);
      at += decoder.getInputConsumed();
      if (decoder.getOutputBufferUsed() > 0) {
        return decoder.getOutputBufferUsed();
      }
    }
  }

  private boolean toNextFrame() throws IOException {
    while (have(1)) {
      if (!have(MAGIC_BYTES)) {
        throw new TrailingData();
      }
      int magic = word(at);
      if (magic == MAGIC) {
        return true;
      }
      if ((magic & ~0xF) != SKIPPED) {
        throw new TrailingData();
      }
      at += MAGIC_BYTES;
      if (!have(MAGIC_BYTES)) {
        throw new EOFException();
      }
      long length = word(at) & 0xFFFF_FFFFL;
      at += MAGIC_BYTES;
      while (length > 0) {
        if (!have(1)) {
          throw new EOFException();
        }
        int skipped = (int) Math.min(length, end - at);
        at += skipped;
        length -= skipped;
      }
    }
    return false;
  }

  private int word(int from) {
    return buffer[from] & 0xFF
        | (buffer[from + 1] & 0xFF) << 8
        | (buffer[from + 2] & 0xFF) << 16
        | buffer[from + 3] << 24;
  }

  /** Whether there are so many bytes more. */
  private boolean have(int count) throws IOException {
    if (end - at < count) {
      System.arraycopy(buffer, at, buffer, 0, end - at);
      end -= at;
      at = 0;
      if (buffer.length < count + BEYOND) {
        buffer = Arrays.copyOf(buffer, count + BEYOND);
      }
      while (end < count) {
        int more = packed.read(buffer, end, buffer.length - BEYOND - end);
        if (more < 0) {
          return false;
        }
        end += more;
      }
    }
    return true;
  }
}
