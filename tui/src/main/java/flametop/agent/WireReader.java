package flametop.agent;

import java.util.Arrays;

/** Finds fields of a message of Protocol Buffers, which a store sent and nobody believes. */
final class WireReader {
  private static final byte[] NONE = {};

  private final byte[] message;
  private int at;
  private long value;
  private int begin;

  private WireReader(byte[] message) {
    this.message = message;
  }

  /** The bytes of a field; none if the field is missing or the message is damaged. */
  static byte[] bytes(byte[] message, int field) {
    WireReader reader = new WireReader(message);
    for (long key = reader.next(); key >= 0; key = reader.next()) {
      if (key == ((long) field << 3 | 2)) {
        return Arrays.copyOfRange(message, reader.begin, reader.at);
      }
    }
    return NONE;
  }

  /** The number of a field; 0 if the field is missing or the message is damaged. */
  static long varint(byte[] message, int field) {
    WireReader reader = new WireReader(message);
    for (long key = reader.next(); key >= 0; key = reader.next()) {
      if (key == (long) field << 3) {
        return reader.value;
      }
    }
    return 0;
  }

  /** Reads a field, and returns its key; -1 at the end, or where no field can be read. */
  private long next() {
    if (at >= message.length) {
      return -1;
    }
    long key = read();
    switch ((int) (key & 7)) {
      case 0 -> value = read();
      case 1 -> skip(Long.BYTES);
      case 2 -> skip(read());
      case 5 -> skip(Integer.BYTES);
      default -> at = -1;
    }
    return at < 0 ? -1 : key;
  }

  private void skip(long length) {
    if (at < 0 || length < 0 || length > message.length - at) {
      at = -1;
      return;
    }
    begin = at;
    at += (int) length;
  }

  private long read() {
    long number = 0;
    for (int shift = 0; shift < Long.SIZE && at >= 0 && at < message.length; shift += 7) {
      byte next = message[at++];
      number |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        return number;
      }
    }
    at = -1;
    return -1;
  }
}
