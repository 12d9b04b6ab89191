package flametop.profile;

import flametop.sampler.CleanText;
import io.airlift.compress.MalformedInputException;
import io.airlift.compress.zstd.ZstdInputStream;
import java.io.ByteArrayInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.zip.GZIPInputStream;

/** The bytes of a file of stacks, or of stdin; unpacked if they are packed by gzip or zstd. */
public final class StackInput implements AutoCloseable {
  /** Stands for stdin. */
  private static final String STDIN = "-";

  /** What a recorded stream begins with. */
  private static final byte[] STREAM = {'F', 'L', 'A', 'M', 'E', 'T', 'O', 'P'};

  private static final byte[] GZIP = {0x1F, (byte) 0x8B};
  private static final byte[] ZSTD = {0x28, (byte) 0xB5, 0x2F, (byte) 0xFD};

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private static final int PACKED_BYTES = 1 << 16;

  private final String name;
  private final long size;
  private final InputStream raw;
  private final AtomicLong counted = new AtomicLong();
  private final LongSupplier bytes;

  /** Null until the first read, which may wait for a pipe. */
  private InputStream text;

  private StackInput(String name, long size, InputStream raw, LongSupplier bytes) {
    this.name = name;
    this.size = size;
    this.raw = raw;
    this.bytes = bytes == null ? counted::get : bytes;
  }

  /**
   * Stacks that are made of a file of another sort.
   *
   * @param name of the file, clean
   * @param size of the file in bytes
   * @param stacks folded
   * @param bytes how much of the file was read so far
   */
  public static StackInput of(String name, long size, InputStream stacks, LongSupplier bytes) {
    return new StackInput(name, size, stacks, bytes);
  }

  /**
   * Opens a file; {@code -} is stdin.
   *
   * @throws IOException with a line for people, if it cannot be read
   */
  public static StackInput open(Path path) throws IOException {
    if (path.toString().equals(STDIN)) {
      return new StackInput("stdin", -1, new FileInputStream(FileDescriptor.in), null);
    }
    String name = CleanText.clean(path.toString(), 1_024);
    if (Files.isDirectory(path)) {
      throw new IOException(name + " is a folder; give a file of folded stacks");
    }
    if (Files.notExists(path)) {
      throw new IOException(name + " does not exist");
    }
    try {
      // Refuses with a reason, which a FileInputStream has only in words of its own.
      if (Files.isRegularFile(path)) {
        Files.newInputStream(path).close();
      }
      long size = Files.isRegularFile(path) ? Files.size(path) : -1;
      return new StackInput(name, size, new FileInputStream(path.toFile()), null);
    } catch (AccessDeniedException e) {
      throw new IOException(name + " may not be read by this user", e);
    } catch (IOException e) {
      throw new IOException("cannot read " + name + ": " + reason(e), e);
    }
  }

  /** Whether a file is a recorded stream, which is replayed and not read as stacks. */
  public static boolean isStream(Path path) {
    if (path.toString().equals(STDIN) || !Files.isRegularFile(path)) {
      return false;
    }
    try (InputStream file = Files.newInputStream(path)) {
      return begins(file.readNBytes(STREAM.length), STREAM);
    } catch (IOException e) {
      return false;
    }
  }

  static String reason(IOException e) {
    return e.getMessage() == null ? "it ends too early" : CleanText.clean(e.getMessage(), 500);
  }

  /** Clean. */
  String name() {
    return name;
  }

  /** In bytes, as they are in the file; -1 if it is a pipe. */
  long size() {
    return size;
  }

  /** How many were read, as they are in the file. */
  long bytes() {
    return bytes.getAsLong();
  }

  /** Reads at least one byte of the text; -1 at its end. Only one thread may. */
  int read(byte[] into, int from, int room) throws IOException {
    try {
      if (text == null) {
        text = unpack();
      }
      return text.read(into, from, room);
    } catch (MalformedInputException e) {
      throw new IOException("damaged zstd data (" + e.getMessage() + ")", e);
    }
  }

  private InputStream unpack() throws IOException {
    InputStream counted = new Counted();
    byte[] head = counted.readNBytes(ZSTD.length);
    InputStream whole = new SequenceInputStream(new ByteArrayInputStream(head), counted);
    if (begins(head, GZIP)) {
      return withoutMark(new GZIPInputStream(whole, PACKED_BYTES));
    }
    return withoutMark(begins(head, ZSTD) ? new ZstdInputStream(whole) : whole);
  }

  /** Windows begins UTF-8 with a byte order mark, which is no part of the first name. */
  private static InputStream withoutMark(InputStream all) throws IOException {
    byte[] head = all.readNBytes(BYTE_ORDER_MARK.length);
    return begins(head, BYTE_ORDER_MARK)
        ? all
        : new SequenceInputStream(new ByteArrayInputStream(head), all);
  }

  private static boolean begins(byte[] head, byte[] with) {
    for (int i = 0; i < with.length; i++) {
      if (i >= head.length || head[i] != with[i]) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void close() {
    try {
      raw.close();
    } catch (IOException e) {
      // It was only read.
    }
  }

  private final class Counted extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int from, int room) throws IOException {
      int count = raw.read(into, from, room);
      if (count > 0) {
        counted.addAndGet(count);
      }
      return count;
    }

    /** A gzip stream looks here whether another member follows. */
    @Override
    public int available() throws IOException {
      return raw.available();
    }
  }
}
