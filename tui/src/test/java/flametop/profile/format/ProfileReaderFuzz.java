package flametop.profile.format;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;

/** A profile of any format. */
public final class ProfileReaderFuzz {
  private ProfileReaderFuzz() {}

  /** The first byte says which format the others are read as. */
  public static void fuzzerTestOneInput(byte[] bytes) {
    ProfileFormat[] formats = ProfileFormat.values();
    if (bytes.length > 0) {
      ProfileFormat format = formats[Byte.toUnsignedInt(bytes[0]) % formats.length];
      long unused = read(format, Arrays.copyOfRange(bytes, 1, bytes.length));
    }
  }

  /** Reads bytes; returns how many stacks they have. */
  static long read(ProfileFormat format, byte[] bytes) {
    CheckedSink sink = new CheckedSink();
    try {
      format.reader().read(new ProfileReader.Source(new ByteArrayInputStream(bytes), null), sink);
    } catch (IOException e) {
      if (e.getMessage() == null || e.getMessage().length() > 400) {
        throw new IllegalStateException("no line for people", e);
      }
    }
    return sink.stacks;
  }
}
