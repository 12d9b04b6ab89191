package flametop.profile.format;

import flametop.array.LongColumn;
import java.io.IOException;

/**
 * The fields of a message of Protocol Buffers, within bytes that nobody has checked.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">the encoding</a>
 */
public final class ProtobufInput {
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
  private long place;

  /** A message that is all of the bytes. */
  public ProtobufInput(byte[] bytes) {
    this(bytes, bytes.length);
  }

  /**
   * A message within others.
   *
   * @param place as {@link #place} names it; below 2³² the first so many bytes
   */
  public ProtobufInput(byte[] bytes, long place) {
    this.bytes = bytes;
    over(place);
  }

  /** Begins with another message of the same bytes. */
  void over(long place) {
    at = (int) (place >>> 32);
    end = (int) place;
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
        place = (long) at << 32 | at + (int) length;
        at += (int) length;
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
  public boolean isBytes() {
    return wire == BYTES;
  }

  /** The number of the field; 0 if the field has none. */
  public long value() {
    return wire == VARINT ? value : 0;
  }

  /** Where the bytes of the field begin, in the upper half, and where they end. */
  public long place() {
    return place;
  }

  /** Goes to the next field with a number; false if there is none. */
  public boolean find(int number) throws IOException {
    while (next()) {
      if (field == number) {
        return true;
      }
    }
    return false;
  }

  /** Puts the numbers of all fields to come into an array, as far as it goes, by field. */
  void values(long[] into) throws IOException {
    while (next()) {
      if (field < into.length) {
        into[field] = value();
      }
    }
  }

  /** Adds the numbers of a repeated field, packed or not. */
  void numbers(LongColumn into) throws IOException {
    if (wire == VARINT) {
      into.add(value);
    } else if (wire == BYTES) {
      int next = at;
      int last = end;
      over(place);
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
