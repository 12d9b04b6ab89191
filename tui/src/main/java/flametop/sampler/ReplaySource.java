package flametop.sampler;

import java.io.BufferedInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A recorded stream. Its batches come as far apart as they were made, or faster; a damaged file is
 * used up to the damage, and a last batch with a notice says where that is.
 */
public final class ReplaySource implements SampleSource {
  private static final long LONGEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /** Stands for stdin. */
  private static final String STDIN = "-";

  private static final String WHAT_IT_TAKES =
      "; --replay takes what `flametop record --format flametop` wrote";

  private final String name;
  private final InputStream file;
  private final byte[] header;
  private final StreamFacts facts;
  private final StreamReader reader;
  private final double speed;

  /** A batch that was read before its time; null if there is none. */
  private byte @Nullable [] next;

  private int batches;
  private long firstTime;
  private long lastTime;
  private long startNanos;
  private boolean ended;
  private volatile boolean damaged;
  private final AtomicLong bytes = new AtomicLong();

  private ReplaySource(String name, InputStream file, double speed) throws IOException {
    this.name = name;
    this.file = file;
    this.speed = speed;
    file.mark(StreamReader.HEADER_PREFIX);
    byte[] prefix = file.readNBytes(StreamReader.HEADER_PREFIX);
    file.reset();
    int length = StreamReader.headerLength(ByteBuffer.wrap(prefix));
    header = file.readNBytes(length);
    facts = StreamReader.readHeader(ByteBuffer.wrap(header));
    reader = new StreamReader(length, true);
    bytes.set(length);
  }

  /**
   * Opens a recorded stream; {@code -} is stdin.
   *
   * @param speed 1: as it was recorded; 2: twice as fast; 0: as fast as it is read
   * @throws SamplerException with a line for people, if it cannot be read, is no stream, or is a
   *     newer one
   */
  public static ReplaySource open(Path path, double speed) throws SamplerException {
    boolean stdin = path.toString().equals(STDIN);
    String name = stdin ? "stdin" : CleanText.clean(path.toString(), 1_024);
    InputStream file =
        stdin
            ? new BufferedInputStream(new FileInputStream(FileDescriptor.in), 1 << 16)
            : openFile(path, name);
    try {
      return new ReplaySource(name, file, speed);
    } catch (DamagedStreamException e) {
      close(file);
      throw failed(name + " is " + e.getMessage() + WHAT_IT_TAKES);
    } catch (SamplerException e) {
      close(file);
      throw new SamplerException(e.kind(), name + " is " + e.getMessage());
    } catch (IOException e) {
      close(file);
      throw unreadable(name, e);
    }
  }

  private static InputStream openFile(Path path, String name) throws SamplerException {
    if (Files.exists(path) && !Files.isRegularFile(path)) {
      throw failed(name + " is no plain file" + WHAT_IT_TAKES);
    }
    try {
      return new BufferedInputStream(Files.newInputStream(path), 1 << 16);
    } catch (NoSuchFileException e) {
      throw failed(name + " does not exist" + WHAT_IT_TAKES);
    } catch (AccessDeniedException e) {
      throw failed(name + " may not be read by this user");
    } catch (IOException e) {
      throw unreadable(name, e);
    }
  }

  private static SamplerException unreadable(String name, IOException e) {
    return failed(
        "cannot read " + name + ": " + CleanText.clean(String.valueOf(e.getMessage()), 1_024));
  }

  /** Whether damage was found so far. */
  public boolean damaged() {
    return damaged;
  }

  /** How much of the file was read so far. */
  public long bytes() {
    return bytes.get();
  }

  @Override
  public StreamFacts facts() {
    return facts;
  }

  @Override
  public byte[] header() {
    return header.clone();
  }

  /** Waits a little for the time of the next batch, and returns 0 if it is not there yet. */
  @Override
  public int fill(ByteBuffer buffer, boolean pass, long late) throws IOException {
    byte[] batch = next != null ? next : read();
    if (batch == null) {
      return -1;
    }
    if (!due(batch)) {
      next = batch;
      return 0;
    }
    next = null;
    buffer.clear().put(batch);
    batches++;
    return buffer.position();
  }

  private boolean due(byte[] batch) {
    if (speed == 0 || ended) {
      return true;
    }
    long time = StreamReader.time(ByteBuffer.wrap(batch));
    if (batches == 0) {
      firstTime = time;
      startNanos = System.nanoTime();
    }
    long wait = startNanos + (long) ((time - firstTime) / speed) - System.nanoTime();
    if (wait > 0) {
      try {
        TimeUnit.NANOSECONDS.sleep(Math.min(wait, LONGEST_WAIT_NANOS));
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return wait <= LONGEST_WAIT_NANOS;
  }

  /** The next batch, at damage a notice of the damage; null at the end. */
  private byte @Nullable [] read() throws IOException {
    if (ended) {
      return null;
    }
    try {
      byte[] prefix = file.readNBytes(4);
      if (prefix.length > 0) {
        return read(prefix);
      }
      ended = true;
      return null;
    } catch (DamagedStreamException e) {
      ended = true;
      damaged = true;
      return notice(name + " is " + e.getMessage() + "; what came before is shown");
    }
  }

  /** The batch that begins with these bytes, whole and checked. */
  private byte[] read(byte[] prefix) throws IOException {
    long at = reader.offset();
    if (prefix.length < 4) {
      throw new DamagedStreamException(at, "the file ends within a batch");
    }
    int length = ByteBuffer.wrap(prefix).order(ByteOrder.LITTLE_ENDIAN).getInt();
    if (length < StreamReader.BATCH_PREFIX || length > Sampler.BUFFER_BYTES) {
      throw new DamagedStreamException(
          at, "a batch of " + Integer.toUnsignedString(length) + " bytes");
    }
    byte[] rest = file.readNBytes(length - 4);
    if (rest.length < length - 4) {
      throw new DamagedStreamException(at, "the file ends within a batch");
    }
    byte[] batch = ByteBuffer.allocate(length).put(prefix).put(rest).array();
    reader.check(ByteBuffer.wrap(batch));
    bytes.addAndGet(length);
    lastTime = StreamReader.time(ByteBuffer.wrap(batch));
    return batch;
  }

  /** A batch that holds a notice of trouble and nothing else. */
  private byte[] notice(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    int body = 3 + bytes.length;
    ByteBuffer out =
        ByteBuffer.allocate(StreamReader.BATCH_PREFIX + 8 + body).order(ByteOrder.LITTLE_ENDIAN);
    out.putInt(out.capacity())
        .putInt(0)
        .putLong(lastTime)
        .putInt(batches)
        .putShort((short) 0)
        .putShort((short) 0);
    out.putShort((short) 13).putShort((short) 0).putInt(body);
    out.put((byte) 1).putShort((short) bytes.length).put(bytes);
    return out.putInt(4, StreamReader.crc(out.slice(8, out.capacity() - 8))).array();
  }

  @Override
  public void setRates(int passHz, int cpuHz) {}

  @Override
  public NameRequests names() {
    return (frames, count) -> {};
  }

  @Override
  public boolean recorded() {
    return true;
  }

  @Override
  public void close() {
    close(file);
  }

  private static void close(InputStream file) {
    try {
      file.close();
    } catch (IOException e) {
      // It was only read.
    }
  }

  private static SamplerException failed(String text) {
    return new SamplerException(SamplerException.Kind.FAILED, text);
  }
}
