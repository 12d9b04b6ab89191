package flametop.profile.file;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * Unpacks gzip, all members of it. That of the JDK takes a second member with a damaged head for
 * the end, and says nothing.
 */
final class GzipInput extends PackedInput {
  private static final int MAGIC = 0x8B1F;
  private static final int DEFLATE = 8;

  // Bits of the flags that say what the head has besides.
  private static final int HEAD_CRC = 2;
  private static final int EXTRA = 4;
  private static final int NAME = 8;
  private static final int COMMENT = 16;
  private static final int RESERVED = 0xE0;

  private final Inflater inflater = new Inflater(true);
  private final CRC32 crc = new CRC32();
  private boolean within;
  private boolean first = true;
  private boolean over;

  /** Unpacks what begins with a member. */
  GzipInput(InputStream packed) {
    super(packed);
  }

  @Override
  public int read(byte[] into, int from, int room) throws IOException {
    try {
      while (!over) {
        if (!within && !begin()) {
          over = true;
          inflater.end();
          break;
        }
        int count = inflater.inflate(into, from, room);
        if (count > 0) {
          crc.update(into, from, count);
          return count;
        }
        if (inflater.finished()) {
          finish();
        } else if (inflater.needsDictionary()) {
          throw new ZipException("it needs a dictionary");
        } else if (inflater.needsInput()) {
          if (!fill()) {
            throw new EOFException();
          }
          inflater.setInput(buffer, at, end - at);
        }
      }
      return -1;
    } catch (DataFormatException e) {
      inflater.end();
      over = true;
      throw new ZipException(e.getMessage() == null ? "no deflate data" : e.getMessage());
    }
  }

  /** Reads the head of a member; false if there is none. */
  private boolean begin() throws IOException {
    if (!first && !toNextMember()) {
      return false;
    }
    if (word() != MAGIC) {
      throw new ZipException("no head of a member");
    }
    if (octet() != DEFLATE) {
      throw new ZipException("packed in no way that is known");
    }
    int flags = octet();
    if ((flags & RESERVED) != 0) {
      throw new ZipException("a head with flags that are not known");
    }
    skip(6);
    if ((flags & EXTRA) != 0) {
      skip(word());
    }
    if ((flags & NAME) != 0) {
      skipText();
    }
    if ((flags & COMMENT) != 0) {
      skipText();
    }
    if ((flags & HEAD_CRC) != 0) {
      skip(2);
    }
    first = false;
    within = true;
    crc.reset();
    inflater.reset();
    inflater.setInput(buffer, at, end - at);
    return true;
  }

  /** Zeros behind a member fill the blocks of a tape. */
  private boolean toNextMember() throws IOException {
    while (at < end || fill()) {
      if (buffer[at] == (byte) MAGIC) {
        return true;
      }
      if (buffer[at] != 0) {
        throw new TrailingData();
      }
      at++;
    }
    return false;
  }

  private void finish() throws IOException {
    at = end - inflater.getRemaining();
    long sum = word() | (long) word() << 16;
    long size = word() | (long) word() << 16;
    if (sum != crc.getValue()) {
      throw new ZipException("the checksum is another");
    }
    if (size != (inflater.getBytesWritten() & 0xFFFF_FFFFL)) {
      throw new ZipException("the length is another");
    }
    within = false;
  }

  private int word() throws IOException {
    int low = octet();
    return low | octet() << 8;
  }

  private void skip(int count) throws IOException {
    for (int i = 0; i < count; i++) {
      int unused = octet();
    }
  }

  private void skipText() throws IOException {
    int next = octet();
    while (next != 0) {
      next = octet();
    }
  }
}
