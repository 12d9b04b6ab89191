package flametop.profile.format;

import flametop.array.LongColumn;
import java.io.IOException;

/**
 * The fields of a message of Protocol Buffers, within bytes that nobody has checked.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding</a>
 */
final class ProtobufInput {
  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int BYTES = 2;
  private static final int FIXED32 = 5;

  private final byte[] bytes;
  private int at;
  private int end;

  private int field;
  private int wire;
  private long value;
  private int from;
  private int to;

  ProtobufInput(byte[] bytes, int from, int to) {
    this.bytes = bytes;
    over(from, to);
  }

  /** Begins with another message of the same bytes. */
  void over(int from, int to) {
    at = from;
    end = to;
  }

  /**
   * Goes to the next field.
   *
   * @return false at the end of the message
   * @throws IOException if the field is cut off, or is none
   */
  boolean next() throws IOException {
    if (at >= end) {
      return false;
    }
    int begin = at;
    long key = varint();
    field = (int) Math.min(key >>> 3, Integer.MAX_VALUE);
    wire = (int) key & 7;
    switch (wire) {
      case VARINT -> value = varint();
      case FIXED64 -> at += 8;
      case FIXED32 -> at += 4;
      case BYTES -> {
        long length = varint();
        if (length < 0 || length > end - at) {
          throw new IOException("it ends too early, in a field that begins at byte " + begin);
        }
        from = at;
        at += (int) length;
        to = at;
      }
      default -> throw new IOException("damaged pprof data at byte " + begin);
    }
    if (at > end || key <= 7) {
      throw new IOException("damaged pprof data at byte " + begin);
    }
    return true;
  }

  private long varint() throws IOException {
    long sum = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (at >= end) {
        throw new IOException("it ends too early, at byte " + at);
      }
      byte next = bytes[at++];
      sum |= (next & 0x7FL) << Math.min(shift, 63);
      if (next >= 0) {
        return sum;
      }
    }
    throw new IOException("damaged pprof data at byte " + at);
  }

  /** Number of the field. */
  int field() {
    return field;
  }

  /** Whether the field is a message, a string, or packed numbers. */
  boolean isBytes() {
    return wire == BYTES;
  }

  /** The number of the field; 0 if the field has none. */
  long value() {
    return wire == VARINT ? value : 0;
  }

  /** Where the bytes of the field begin. */
  int from() {
    return from;
  }

  /** Where the bytes of the field end. */
  int to() {
    return to;
  }

  /** Adds the numbers of a repeated field, packed or not. */
  void numbers(LongColumn into) throws IOException {
    if (wire == VARINT) {
      into.add(value);
    } else if (wire == BYTES) {
      int next = at;
      int last = end;
      at = from;
      end = to;
      while (at < end) {
        byte first = bytes[at];
        if (first >= 0) {
          at++;
          into.add(first);
        } else {
          into.add(varint());
        }
      }
      at = next;
      end = last;
    }
  }
}
