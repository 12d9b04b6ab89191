package flametop.sampler;

import java.io.IOException;

/** The stream does not keep to its format. What came before the offset is good. */
public final class DamagedStreamException extends IOException {
  private final long offset;

  /**
   * @param offset byte of the stream, its file header included, where the damage was found
   * @param what is wrong there
   */
  public DamagedStreamException(long offset, String what) {
    super("damaged at byte " + offset + ": " + what);
    this.offset = offset;
  }

  /** Byte of the stream, its file header included, where the damage was found. */
  public long offset() {
    return offset;
  }
}
