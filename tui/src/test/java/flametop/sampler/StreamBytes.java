package flametop.sampler;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** Makes streams for tests. */
public final class StreamBytes {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private int sequence;

  public StreamBytes(int version, String facts) {
    byte[] bytes = facts.getBytes(StandardCharsets.UTF_8);
    ByteBuffer header = ByteBuffer.allocate(20 + bytes.length).order(ByteOrder.LITTLE_ENDIAN);
    header.put("FLAMETOP".getBytes(StandardCharsets.US_ASCII)).putInt(version).putInt(bytes.length);
    header.putInt(checksum(bytes, 0)).put(bytes);
    out.writeBytes(header.array());
  }

  static byte[] header() {
    return new StreamBytes(1, "host=test\ntarget=all\n").bytes();
  }

  StreamBytes batch(long time, int flags, byte[]... records) {
    out.writeBytes(batch(sequence++, time, flags, records));
    return this;
  }

  public byte[] bytes() {
    return out.toByteArray();
  }

  /** Gives a batch its checksum. */
  public static byte[] seal(byte[] batch) {
    return ByteBuffer.wrap(batch)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(4, checksum(batch, 8))
        .array();
  }

  private static int checksum(byte[] bytes, int from) {
    CRC32 crc = new CRC32();
    crc.update(bytes, from, bytes.length - from);
    return (int) crc.getValue();
  }

  public static byte[] batch(int sequence, long time, int flags, byte[]... records) {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (byte[] record : records) {
      body.writeBytes(record);
    }
    ByteBuffer batch = ByteBuffer.allocate(24 + body.size()).order(ByteOrder.LITTLE_ENDIAN);
    batch
        .putInt(batch.capacity())
        .putInt(0)
        .putLong(time)
        .putInt(sequence)
        .putShort((short) flags)
        .putShort((short) 0)
        .put(body.toByteArray());
    return seal(batch.array());
  }

  public static byte[] record(int kind, byte[] body) {
    return ByteBuffer.allocate(8 + body.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putShort((short) kind)
        .putShort((short) 0)
        .putInt(body.length)
        .put(body)
        .array();
  }

  public static byte[] counters(long... totals) {
    ByteBuffer body =
        ByteBuffer.allocate(2 + 8 * totals.length)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putShort((short) totals.length);
    for (long total : totals) {
      body.putLong(total);
    }
    return record(1, body.array());
  }
}
