package flametop.term.device;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Collects the bytes of one picture and hands them to the terminal in a single write, between the
 * marks of synchronized output, on a thread of its own: a slow line holds up only that thread, and
 * pictures are skipped meanwhile. Bytes that are flushed all the same go with the next write.
 */
public final class FrameStream extends OutputStream {
  private static final byte[] BEGIN = "\033[?2026h".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] END = "\033[?2026l".getBytes(StandardCharsets.US_ASCII);
  private static final int INITIAL = 64 * 1024;

  private final OutputStream terminal;
  private final Thread writer;

  // The caller owns this between two flushes.
  private byte[] buffer = new byte[INITIAL];
  private int size = BEGIN.length;

  // Guarded by this.
  private byte[] queue = new byte[INITIAL];
  private int queued;
  private boolean writing;
  private @Nullable IOException failure;
  private boolean closed;

  public FrameStream(OutputStream terminal) {
    this.terminal = terminal;
    System.arraycopy(BEGIN, 0, buffer, 0, BEGIN.length);
    writer = new Thread(this::writeFrames, "terminal writer");
    writer.setDaemon(true);
    writer.start();
  }

  @Override
  public void write(int b) {
    room(1);
    buffer[size++] = (byte) b;
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    room(length);
    System.arraycopy(bytes, offset, buffer, size, length);
    size += length;
  }

  /** Writes ASCII. */
  public void write(String text) {
    room(text.length());
    for (int i = 0; i < text.length(); i++) {
      buffer[size++] = (byte) text.charAt(i);
    }
  }

  /** Writes a number, not negative, in decimal. */
  public void writeNumber(int number) {
    if (number >= 10) {
      writeNumber(number / 10);
    }
    write('0' + number % 10);
  }

  /** Writes a character in UTF-8. */
  public void writeCodePoint(int c) {
    if (c < 0x80) {
      write(c);
    } else if (c < 0x800) {
      write(0xc0 | c >> 6);
      write(0x80 | c & 0x3f);
    } else if (c < 0x10000) {
      write(0xe0 | c >> 12);
      write(0x80 | c >> 6 & 0x3f);
      write(0x80 | c & 0x3f);
    } else {
      write(0xf0 | c >> 18);
      write(0x80 | c >> 12 & 0x3f);
      write(0x80 | c >> 6 & 0x3f);
      write(0x80 | c & 0x3f);
    }
  }

  private void room(int length) {
    if (size + length + END.length > buffer.length) {
      buffer = Arrays.copyOf(buffer, Math.max(buffer.length * 2, size + length + END.length));
    }
  }

  /**
   * Hands the collected bytes over as one frame; does not wait.
   *
   * @throws IOException if an earlier frame could not be written
   */
  @Override
  public void flush() throws IOException {
    if (size == BEGIN.length) {
      return;
    }
    System.arraycopy(END, 0, buffer, size, END.length);
    size += END.length;
    synchronized (this) {
      if (failure != null) {
        throw new IOException("the terminal cannot be written: " + failure.getMessage(), failure);
      }
      if (queued == 0) {
        byte[] empty = queue;
        queue = buffer;
        buffer = empty;
      } else {
        if (queued + size > queue.length) {
          queue = Arrays.copyOf(queue, Math.max(queue.length * 2, queued + size));
        }
        System.arraycopy(buffer, 0, queue, queued, size);
      }
      queued += size;
      notifyAll();
    }
    System.arraycopy(BEGIN, 0, buffer, 0, BEGIN.length);
    size = BEGIN.length;
  }

  /** How many bytes were collected since the last flush. */
  public int collected() {
    return size - BEGIN.length;
  }

  /** Whether a frame is still being written. */
  public synchronized boolean isBusy() {
    return queued > 0 || writing;
  }

  /** Waits until all frames are written, at most so long; false if one is not. */
  public synchronized boolean drain(long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    while (isBusy() && failure == null && !closed) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      try {
        wait(left / 1_000_000 + 1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return failure == null;
  }

  @Override
  public synchronized void close() {
    closed = true;
    notifyAll();
  }

  private void writeFrames() {
    byte[] frame = new byte[INITIAL];
    while (true) {
      int length;
      synchronized (this) {
        while (queued == 0 && !closed) {
          try {
            wait();
          } catch (InterruptedException e) {
            return;
          }
        }
        if (queued == 0) {
          return;
        }
        byte[] full = queue;
        queue = frame;
        frame = full;
        length = queued;
        queued = 0;
        writing = true;
      }
      IOException trouble = null;
      try {
        terminal.write(frame, 0, length);
        terminal.flush();
      } catch (IOException e) {
        trouble = e;
      }
      synchronized (this) {
        failure = trouble;
        writing = false;
        notifyAll();
        if (trouble != null) {
          return;
        }
      }
    }
  }
}
