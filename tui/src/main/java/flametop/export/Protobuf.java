package flametop.export;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * One message of Protocol Buffers: fields in the order in which they come.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding</a>
 */
public final class Protobuf {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int BYTES = 2;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /**
   * Writes an integer or a bool; a field that is 0 is left out, since 0 is the value of a missing
   * field.
   */
  public Protobuf field(int number, long value) {
    if (value != 0) {
      varint(out, (long) number << 3 | VARINT);
      varint(out, value);
    }
    return this;
  }

  /** Writes a message within this one. */
  public Protobuf field(int number, Protobuf message) {
    return field(number, message.out.toByteArray());
  }

  /** Writes a string, also an empty one. */
  public Protobuf field(int number, String text) {
    return field(number, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Writes integers, packed; zeros too. */
  public Protobuf packed(int number, long[] values) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    for (long value : values) {
      varint(packed, value);
    }
    return field(number, packed.toByteArray());
  }

  /** Writes eight bytes, the lowest first. */
  public Protobuf fixed(int number, long value) {
    varint(out, (long) number << 3 | FIXED64);
    for (int shift = 0; shift < Long.SIZE; shift += 8) {
      out.write((int) (value >>> shift) & 0xFF);
    }
    return this;
  }

  /** Writes bytes, also none. */
  public Protobuf field(int number, byte[] bytes) {
    varint(out, (long) number << 3 | BYTES);
    varint(out, bytes.length);
    out.writeBytes(bytes);
    return this;
  }

  /** The bytes that were written since the last call. */
  public byte[] take() {
    byte[] bytes = out.toByteArray();
    out.reset();
    return bytes;
  }

  private static void varint(ByteArrayOutputStream out, long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.write((int) (rest & 0x7F | 0x80));
      rest >>>= 7;
    }
    out.write((int) rest);
  }
}
