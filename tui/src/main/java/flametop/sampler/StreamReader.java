package flametop.sampler;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Decodes the stream, batch by batch. The crate {@code flametop-stream} defines its format; the
 * names here are those of its tables.
 *
 * <p>Nothing is believed: every length is checked against the buffer that holds it, every number
 * against its range, every id against those that were introduced. Visitors need no further checks.
 * Unknown kinds of record are skipped, and so are bytes after the body of those that it knows;
 * numbers that stand for something and that it does not know are passed on as numbers. Each such
 * kind and number is told once, as a notice.
 */
public final class StreamReader {
  /** The newest version that this reader knows; it reads every older one. */
  public static final int VERSION = 2;

  /** Bytes before the facts of a file header. */
  public static final int HEADER_PREFIX = 20;

  /** Bytes of a batch before its records. */
  public static final int BATCH_PREFIX = 24;

  /** CPU numbers are below this. */
  public static final int MAX_CPUS = 16_384;

  /** Numbers of idle states are below this. */
  public static final int MAX_IDLE_STATES = 64;

  /** Numbers of sources of events are below this. */
  public static final int MAX_SOURCES = 1_024;

  /** Facts may have so many bytes. */
  public static final int MAX_FACTS = 1 << 20;

  static final int PASS = 1;
  static final int MORE = 2;

  private static final long MAGIC =
      ByteBuffer.wrap("FLAMETOP".getBytes(StandardCharsets.US_ASCII)).getLong();

  /** For those who want to know only whether a batch can be read. */
  private static final StreamVisitor NOBODY = new StreamVisitor() {};

  private final boolean verify;
  private final StreamRecords records;
  private int sequence;

  /**
   * @param offset bytes of the stream before its first batch, so that damage is told by its place
   * @param verify whether to verify checksums: those of a file, not of the bridge
   */
  public StreamReader(long offset, boolean verify) {
    this(offset, verify, true);
  }

  /**
   * @param checkIds false: any number may be an id or a time, which is for looking at single
   *     records only
   */
  StreamReader(long offset, boolean verify, boolean checkIds) {
    this.verify = verify;
    records = new StreamRecords(offset, checkIds);
  }

  /**
   * Reads a file header and leaves the buffer's position at the first batch.
   *
   * @param file little more than the header, from its first byte on
   * @throws DamagedStreamException if it is no header, or a damaged one
   * @throws SamplerException if the stream is of a newer version
   */
  public static StreamFacts readHeader(ByteBuffer file)
      throws DamagedStreamException, SamplerException {
    int length = headerLength(file);
    ByteBuffer in = file.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (in.remaining() < length) {
      throw new DamagedStreamException(in.remaining(), "the file ends in its header");
    }
    byte[] facts = new byte[length - HEADER_PREFIX];
    in.get(HEADER_PREFIX, facts);
    if (crc(ByteBuffer.wrap(facts)) != in.getInt(16)) {
      throw new DamagedStreamException(HEADER_PREFIX, "the checksum of the header does not match");
    }
    file.position(file.position() + length);
    return StreamFacts.parse(new String(facts, StandardCharsets.UTF_8));
  }

  /**
   * Bytes of the file header, told by its first {@link #HEADER_PREFIX}; throws like {@link
   * #readHeader}.
   */
  static int headerLength(ByteBuffer file) throws DamagedStreamException, SamplerException {
    ByteBuffer in = file.slice().order(ByteOrder.LITTLE_ENDIAN);
    if (in.remaining() < HEADER_PREFIX || Long.reverseBytes(in.getLong(0)) != MAGIC) {
      throw new DamagedStreamException(0, "it does not begin as a flametop stream does");
    }
    int version = in.getInt(8);
    if (version == 0) {
      throw new DamagedStreamException(8, "version 0");
    }
    if (Integer.compareUnsigned(version, VERSION) > 0) {
      throw new SamplerException(
          SamplerException.Kind.FAILED,
          "a flametop stream of version %s, this flametop reads up to version %s: open it with a newer flametop"
              .formatted(Integer.toUnsignedString(version), VERSION));
    }
    int facts = in.getInt(12);
    if (facts < 0 || facts > MAX_FACTS) {
      throw new DamagedStreamException(
          12, "a header of " + Integer.toUnsignedString(facts) + " bytes");
    }
    return HEADER_PREFIX + facts;
  }

  /** The checksum of all bytes from position to limit. */
  static int crc(ByteBuffer bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes);
    return (int) crc.getValue();
  }

  /** Time of a batch, ns, without decoding it. */
  static long time(ByteBuffer batch) {
    return batch.duplicate().order(ByteOrder.LITTLE_ENDIAN).getLong(batch.position() + 8);
  }

  /** Whether the pass goes on in the next batch. */
  static boolean more(ByteBuffer batch) {
    return (batch.duplicate().order(ByteOrder.LITTLE_ENDIAN).getShort(batch.position() + 20) & MORE)
        != 0;
  }

  /** Bytes read so far. */
  public long offset() {
    return records.offset;
  }

  /**
   * Goes over one batch like {@link #read}, but tells nobody: what passes can be read without an
   * exception.
   */
  public void check(ByteBuffer batch) throws DamagedStreamException {
    read(batch, NOBODY);
  }

  /**
   * Reads one batch, which is all from position to limit.
   *
   * @throws DamagedStreamException if it is damaged; the visitor may have been told records that
   *     came before, and no {@link StreamVisitor#batchEnds()}
   */
  public void read(ByteBuffer batch, StreamVisitor visitor) throws DamagedStreamException {
    ByteBuffer in = batch.slice().order(ByteOrder.LITTLE_ENDIAN);
    int length = in.remaining();
    if (length < BATCH_PREFIX || in.getInt(0) != length) {
      throw records.damaged(
          0,
          "a batch of %s bytes that says it has %s"
              .formatted(length, length < 4 ? "none" : in.getInt(0)));
    }
    if (verify && crc(in.slice(8, length - 8)) != in.getInt(4)) {
      throw records.damaged(0, "the checksum of the batch does not match");
    }
    if (in.getInt(16) != sequence) {
      throw records.damaged(
          16,
          "batch %s where batch %s was due"
              .formatted(Integer.toUnsignedString(in.getInt(16)), sequence));
    }
    records.time(in, 8);
    int flags = in.getShort(20);
    visitor.batchBegins(in.getLong(8), sequence, (flags & PASS) != 0, (flags & MORE) != 0);
    in.position(BATCH_PREFIX);
    while (in.hasRemaining()) {
      records.read(in, visitor);
    }
    visitor.batchEnds();
    sequence++;
    records.offset += length;
  }
}
