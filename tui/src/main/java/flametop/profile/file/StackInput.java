package flametop.profile.file;

import flametop.profile.answer.FoldedStack;
import flametop.sampler.CleanText;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.MemoryLimitException;
import org.tukaani.xz.XZFormatException;
import org.tukaani.xz.XZInputStream;

/** The bytes of a file of stacks, or of stdin; unpacked if they are {@link Packing packed}. */
public final class StackInput implements AutoCloseable {
  /** Makes stacks of a file of another format. Their values count µs. */
  public interface Replay extends AutoCloseable {
    /**
     * Makes the stacks, and hands them on in the order of their names; waits as long as that takes.
     *
     * @throws IOException with a line for people, after those stacks that could be made
     */
    void read(Consumer<FoldedStack> to) throws IOException;

    @Override
    void close();
  }

  /** The name of stdin. */
  private static final String STDIN = "-";

  /** The first bytes of a recorded stream. */
  private static final String STREAM = "FLAMETOP";

  private static final String BYTE_ORDER_MARK = "\u00EF\u00BB\u00BF";

  private static final String CUT = "it ends too early";

  /** Most memory for unpacking xz, KiB; the writer of a file decides how much its reader needs. */
  private static final int MOST_XZ_KIB = 256 << 10;

  /** A reader of the terminal would take the keys away. */
  private static final Pattern TERMINAL = Pattern.compile("/dev/(tty.*|console|pts/.*)");

  private static final int BUFFER = 1 << 16;

  /** How a file is packed, as its beginning tells. */
  private enum Packing {
    GZIP("\u001F\u008B"),
    ZSTD("(\u00B5/\u00FD"),
    XZ("\u00FD7zXZ\0"),
    BZIP2("BZh"),
    NONE("");

    /** The first bytes, one for each char. */
    private final String magic;

    Packing(String magic) {
      this.magic = magic;
    }

    static Packing of(String head) {
      return Stream.of(values()).filter(p -> head.startsWith(p.magic)).findFirst().orElse(NONE);
    }
  }

  private final String name;
  private final long size;

  /** The file, which the first read opens; null: the input is open, or no file. */
  private final @Nullable Path unopened;

  /** The regular file; null if the input is none. */
  private final @Nullable Path regular;

  /** Makes the stacks; null: the input is text. */
  private final @Nullable Replay replay;

  private final AtomicLong counted = new AtomicLong();
  private final LongSupplier bytes;
  private volatile boolean closed;

  /** The packed bytes; null until the file is opened. */
  private volatile @Nullable InputStream raw;

  private volatile Packing packing = Packing.NONE;

  private volatile boolean trails;
  private volatile boolean damaged;

  /** The unpacked bytes; null until the first read, which may wait for a pipe. */
  private @Nullable InputStream text;

  /** Whether any byte was unpacked. */
  private boolean unpacked;

  /** Why the file itself cannot be read; null while it can. */
  private @Nullable IOException failed;

  private StackInput(
      String name,
      long size,
      @Nullable InputStream raw,
      @Nullable Path unopened,
      @Nullable Path regular) {
    this.regular = regular;
    this.name = name;
    this.size = size;
    this.raw = raw;
    this.unopened = unopened;
    replay = null;
    bytes = counted::get;
  }

  /** A file that cannot be opened any more, for this reason. */
  static StackInput failed(String name, IOException why) {
    InputStream stream =
        new BytesInput() {
          @Override
          public int read(byte[] into, int from, int count) throws IOException {
            throw why;
          }
        };
    return of(name, -1, stream);
  }

  /**
   * Stacks that are made of a file of another format.
   *
   * @param name of the file, clean
   * @param size of the file in bytes
   * @param bytes how much of the file was read so far
   */
  public StackInput(String name, long size, Replay replay, LongSupplier bytes) {
    this.name = name;
    this.size = size;
    this.replay = replay;
    this.bytes = bytes;
    unopened = null;
    regular = null;
  }

  /**
   * An input that is open already.
   *
   * @param name clean
   * @param size in bytes; -1 if the size is not known
   */
  public static StackInput of(String name, long size, InputStream bytes) {
    return new StackInput(name, size, bytes, null, null);
  }

  /**
   * Opens a file; {@code -} is stdin. A pipe is opened by the first read, which waits for its
   * writer.
   *
   * @throws IOException with a line for people, if the file cannot be read
   */
  public static StackInput open(Path path) throws IOException {
    if (path.toString().equals(STDIN)) {
      return of("stdin", -1, new FileInputStream(FileDescriptor.in));
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
      return new StackInput(name, Files.size(path), new FileInputStream(path.toFile()), null, path);
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
    return begins(path, STREAM);
  }

  /**
   * Whether a path is of a regular file with these first bytes.
   *
   * @param magic one char for each byte
   */
  public static boolean begins(Path path, String magic) {
    if (path.toString().equals(STDIN) || !Files.isRegularFile(path)) {
      return false;
    }
    try (InputStream file = Files.newInputStream(path)) {
      return new String(file.readNBytes(magic.length()), StandardCharsets.ISO_8859_1).equals(magic);
    } catch (IOException e) {
      return false;
    }
  }

  static String reason(IOException e) {
    return e.getMessage() == null ? CUT : CleanText.clean(e.getMessage(), 500);
  }

  /** The name of the file, clean. */
  String name() {
    return name;
  }

  /**
   * The file, if it is one, with the bytes that are read; null if they are packed, or of a pipe.
   */
  @Nullable Path plainFile() {
    return packing == Packing.NONE ? regular : null;
  }

  /** Makes the stacks; null if the input is text. */
  @Nullable Replay replay() {
    return replay;
  }

  /** Size of the file in bytes; -1 of a pipe. */
  long size() {
    return size;
  }

  /** How many bytes of the file were read. */
  long bytes() {
    return bytes.getAsLong();
  }

  /** What the input waits for, for people; empty if it does not wait. */
  String waits() {
    if (raw == null && replay == null) {
      return "waiting for a writer of " + name;
    }
    return size < 0 && bytes() == 0 ? "waiting for the first line of " + name : "";
  }

  /** Whether the file became shorter while it was read. */
  boolean hasShrunk() {
    try {
      return raw instanceof FileInputStream file && file.getChannel().size() < size;
    } catch (IOException e) {
      return false;
    }
  }

  /** Whether bytes that are not packed follow the packed ones. */
  boolean trails() {
    return trails;
  }

  /** Whether the file is packed, and could not be unpacked to its end. */
  boolean isDamaged() {
    return damaged;
  }

  /**
   * Reads at least one byte of the text; -1 at its end. Only one thread may read.
   *
   * @throws IOException with a line for people, whatever fails
   */
  int read(byte[] into, int from, int room) throws IOException {
    try {
      return readChecked(into, from, room);
    } catch (IOException e) {
      damaged = packing != Packing.NONE;
      throw e;
    }
  }

  private int readChecked(byte[] into, int from, int room) throws IOException {
    try {
      if (text == null) {
        text = unpack();
      }
      int count = text.read(into, from, room);
      unpacked = true;
      return count;
    } catch (EOFException e) {
      throw new IOException(CUT, e);
    } catch (PackedInput.TrailingData e) {
      trails = true;
      return -1;
    } catch (XZFormatException e) {
      if (!unpacked) {
        throw new IOException("damaged xz data", e);
      }
      trails = true;
      return -1;
    } catch (MemoryLimitException e) {
      throw new IOException(
          "to unpack it takes "
              + (e.getMemoryNeeded() >> 10)
              + " MiB of memory; unpack it first (xz -dc)",
          e);
    } catch (IOException | RuntimeException e) {
      // Decoders fail in ways of their own where data is damaged.
      if (failed != null) {
        throw failed;
      }
      if (packing == Packing.NONE) {
        throw e;
      }
      String how = packing.name().toLowerCase(Locale.ROOT);
      String why = e.getMessage() == null ? "" : " (" + e.getMessage() + ")";
      throw new IOException("damaged " + how + " data" + why, e);
    }
  }

  private InputStream unpack() throws IOException {
    InputStream from = raw;
    if (from == null) {
      if (unopened == null) {
        throw new IllegalStateException(name + " is no text");
      }
      from = new FileInputStream(unopened.toFile());
      raw = from;
      if (closed) {
        close();
      }
    }
    InputStream counts = new Counted(from);
    String head = head(counts, Stream.of(Packing.values()).map(p -> p.magic).toList());
    InputStream whole = begun(head, counts);
    packing = Packing.of(head);
    return withoutMark(
        switch (packing) {
          case GZIP -> new GzipInput(whole);
          case ZSTD -> new ZstdInput(whole);
          case XZ -> new XZInputStream(new BufferedInputStream(whole, BUFFER), MOST_XZ_KIB);
          case BZIP2 -> new Bzip2Input(whole);
          case NONE -> whole;
        });
  }

  /**
   * The first bytes, a char for each, only while they may be one of the beginnings: the next ones
   * may come late.
   */
  private static String head(InputStream of, List<String> wanted) throws IOException {
    String head = "";
    while (isBeginning(head, wanted)) {
      int next = of.read();
      if (next < 0) {
        break;
      }
      head += (char) next;
    }
    return head;
  }

  private static boolean isBeginning(String head, List<String> wanted) {
    return wanted.stream().anyMatch(of -> of.length() > head.length() && of.startsWith(head));
  }

  private static InputStream begun(String head, InputStream rest) {
    byte[] bytes = head.getBytes(StandardCharsets.ISO_8859_1);
    return new SequenceInputStream(new ByteArrayInputStream(bytes), rest);
  }

  /** Windows begins UTF-8 with a byte order mark, which is no part of the first name. */
  private static InputStream withoutMark(InputStream all) throws IOException {
    String head = head(all, List.of(BYTE_ORDER_MARK));
    return head.equals(BYTE_ORDER_MARK) ? all : begun(head, all);
  }

  @Override
  public void close() {
    closed = true;
    if (replay != null) {
      replay.close();
    }
    try {
      if (raw != null) {
        raw.close();
      }
    } catch (IOException e) {
      // It was only read.
    }
  }

  private final class Counted extends BytesInput {
    private final InputStream of;

    Counted(InputStream of) {
      this.of = of;
    }

    @Override
    public int read(byte[] into, int from, int room) throws IOException {
      try {
        int count = of.read(into, from, room);
        if (count > 0) {
          counted.addAndGet(count);
        }
        return count;
      } catch (IOException e) {
        failed = e;
        throw e;
      }
    }
  }
}
