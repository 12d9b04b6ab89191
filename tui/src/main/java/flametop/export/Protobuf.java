package flametop.export;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * One message of Protocol Buffers, as it is written: fields in the order that they come.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding</a>
 */
final class Protobuf {
  private static final int VARINT = 0;
  private static final int BYTES = 2;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** An integer or a bool; 0 is what a field is that is not there. */
  Protobuf field(int number, long value) {
    if (value != 0) {
      varint(out, (long) number << 3 | VARINT);
      varint(out, value);
    }
    return this;
  }

  /** A message within. */
  Protobuf field(int number, Protobuf message) {
    return field(number, message.out.toByteArray());
  }

  /** A string, also an empty one. */
  Protobuf field(int number, String text) {
    return field(number, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Integers, packed; those that are 0 too. */
  Protobuf packed(int number, long[] values) {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    for (long value : values) {
      varint(packed, value);
    }
    return field(number, packed.toByteArray());
  }

  private Protobuf field(int number, byte[] bytes) {
    varint(out, (long) number << 3 | BYTES);
    varint(out, bytes.length);
    out.writeBytes(bytes);
    return this;
  }

  /** What was written since the last call. */
  byte[] take() {
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
