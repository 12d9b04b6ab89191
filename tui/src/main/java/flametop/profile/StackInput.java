package flametop.profile;

import flametop.sampler.CleanText;
import io.airlift.compress.MalformedInputException;
import io.airlift.compress.zstd.ZstdInputStream;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
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
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** The bytes of a file of stacks, or of stdin; unpacked if they are packed by gzip or zstd. */
public final class StackInput implements AutoCloseable {
  /** Stands for stdin. */
  private static final String STDIN = "-";

  /** What a recorded stream begins with. */
  private static final byte[] STREAM = {'F', 'L', 'A', 'M', 'E', 'T', 'O', 'P'};

  private static final byte[] GZIP = {0x1F, (byte) 0x8B};
  private static final byte[] ZSTD = {0x28, (byte) 0xB5, 0x2F, (byte) 0xFD};

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private static final String CUT = "it ends too early";

  /** What the reader of zstd says then. */
  private static final String CUT_ZSTD = "Not enough input bytes";

  /** Who reads it takes the keys away. */
  private static final Pattern TERMINAL = Pattern.compile("/dev/(tty.*|console|pts/.*)");

  private static final int PACKED_BYTES = 1 << 16;

  private final String name;
  private final long size;

  /** Null once it is opened. */
  private final Path unopened;

  private final AtomicLong counted = new AtomicLong();
  private final LongSupplier bytes;
  private volatile boolean closed;

  /** Null until it is opened. */
  private volatile InputStream raw;

  private volatile boolean packed;

  /** Null until the first read, which may wait for a pipe. */
  private InputStream text;

  private StackInput(String name, long size, InputStream raw, Path unopened, LongSupplier bytes) {
    this.name = name;
    this.size = size;
    this.raw = raw;
    this.unopened = unopened;
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
    return new StackInput(name, size, stacks, null, bytes);
  }

  /**
   * Opens a file; {@code -} is stdin. A pipe is opened by the first read, which waits for its
   * writer.
   *
   * @throws IOException with a line for people, if it cannot be read
   */
  public static StackInput open(Path path) throws IOException {
    if (path.toString().equals(STDIN)) {
      return new StackInput("stdin", -1, new FileInputStream(FileDescriptor.in), null, null);
    }
    String name = CleanText.clean(path.toString(), 1_024);
    if (Files.isDirectory(path)) {
      throw new IOException(name + " is a folder; give a file of folded stacks");
    }
    if (Files.notExists(path)) {
      boolean lost = name.indexOf('\uFFFD') >= 0;
      throw new IOException(
          name
              + " does not exist"
              + (lost
                  ? ", or its name is not in the encoding of this terminal; give it as -"
                  : ""));
    }
    if (isTerminal(path)) {
      throw new IOException(name + " is a terminal; give a file or a pipe of folded stacks");
    }
    try {
      if (!Files.isRegularFile(path)) {
        if (!Files.isReadable(path)) {
          throw new AccessDeniedException(name);
        }
        return new StackInput(name, -1, null, path, null);
      }
      // Refuses with a reason, which a FileInputStream has only in words of its own.
      Files.newInputStream(path).close();
      return new StackInput(name, Files.size(path), new FileInputStream(path.toFile()), null, null);
    } catch (AccessDeniedException e) {
      throw new IOException(name + " may not be read by this user", e);
    } catch (IOException e) {
      throw new IOException("cannot read " + name + ": " + reason(e), e);
    }
  }

  private static boolean isTerminal(Path path) {
    try {
      return !Files.isRegularFile(path) && TERMINAL.matcher(path.toRealPath().toString()).matches();
    } catch (IOException e) {
      return false;
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
    return e.getMessage() == null ? CUT : CleanText.clean(e.getMessage(), 500);
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

  /** What it waits for, for people; empty if for nothing. */
  String waits() {
    if (raw == null) {
      return "waiting for a writer of " + name;
    }
    return size < 0 && bytes() == 0 ? "waiting for the first line of " + name : "";
  }

  /** Whether it is shorter now than it was, so that its end is not what it was. */
  boolean hasShrunk() {
    try {
      return raw instanceof FileInputStream file && file.getChannel().size() < size;
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether what is read is unpacked. */
  boolean isPacked() {
    return packed;
  }

  /** Reads at least one byte of the text; -1 at its end. Only one thread may. */
  int read(byte[] into, int from, int room) throws IOException {
    try {
      if (text == null) {
        text = unpack();
      }
      return text.read(into, from, room);
    } catch (EOFException e) {
      throw new IOException(CUT, e);
    } catch (ZipException e) {
      throw new IOException("damaged gzip data (" + e.getMessage() + ")", e);
    } catch (MalformedInputException e) {
      throw new IOException("damaged zstd data (" + e.getMessage() + ")", e);
    } catch (IOException e) {
      throw CUT_ZSTD.equals(e.getMessage()) ? new IOException(CUT, e) : e;
    }
  }

  private InputStream unpack() throws IOException {
    if (raw == null) {
      raw = new FileInputStream(unopened.toFile());
      if (closed) {
        close();
      }
    }
    InputStream counts = new Counted();
    byte[] head = counts.readNBytes(ZSTD.length);
    InputStream whole = new SequenceInputStream(new ByteArrayInputStream(head), counts);
    packed = begins(head, GZIP) || begins(head, ZSTD);
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
    closed = true;
    try {
      if (raw != null) {
        raw.close();
      }
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
