package flametop.term.device;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;

/**
 * The terminal's input. As long as the bytes read end in an unfinished escape sequence, {@link
 * #available} lingers for the rest: otherwise an arrow key in two pieces would be read as Escape
 * and two letters. Behind a single Escape, which may be the key, it does not linger long.
 *
 * <p>A sequence keeps at most {@link #MAX_PARAMETERS} bytes of parameters. Each byte decodes the
 * whole sequence again, so an endless sequence would cost the square of its length.
 */
public final class LingeringInput extends InputStream {
  private static final int ESCAPE = 0x1b;

  /** How long the rest of a sequence may take: nobody types {@code ESC [}. */
  private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** A longer pause between two bytes means a hand. */
  private static final long HAND_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

  /** So many characters at once, so many of them different, are a text. */
  private static final int TEXT_LENGTH = 8;

  private static final int TEXT_DIFFERENT = 5;

  /** The most bytes of parameters. No useful sequence has half as many. */
  private static final int MAX_PARAMETERS = 64;

  private enum Part {
    NONE,
    AFTER_ESCAPE,
    AFTER_O,
    PARAMETERS
  }

  private final InputStream terminal;
  private final long lingerNanos;

  private Part part = Part.NONE;

  /** Bytes of parameters so far. */
  private int parameters;

  private long lastTyped = System.nanoTime();
  private int typed;
  private long seen;

  /**
   * @param lingerMillis after an Escape
   */
  public LingeringInput(InputStream terminal, long lingerMillis) {
    this.terminal = terminal;
    this.lingerNanos = TimeUnit.MILLISECONDS.toNanos(lingerMillis);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int kept = 0;
    while (kept == 0) {
      int n = terminal.read(bytes, offset, length);
      if (n <= 0) {
        return n;
      }
      long now = System.nanoTime();
      for (int i = offset; i < offset + n; i++) {
        see(bytes[i], now);
        if (part != Part.PARAMETERS || parameters++ <= MAX_PARAMETERS) {
          bytes[offset + kept++] = bytes[i];
        }
      }
    }
    return kept;
  }

  @Override
  public int available() throws IOException {
    int n = terminal.available();
    long begin = System.nanoTime();
    long linger = part == Part.AFTER_ESCAPE ? lingerNanos : REST_NANOS;
    while (n == 0 && part != Part.NONE && System.nanoTime() - begin < linger) {
      try {
        Thread.sleep(1);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        break;
      }
      n = terminal.available();
    }
    if (n == 0) {
      part = Part.NONE;
    }
    return n;
  }

  /**
   * Whether the last character came with others, faster than a hand types: a paste that the
   * terminal did not mark. A held key is no paste, nor are a few keys that a slow line brought
   * together.
   */
  boolean isText() {
    return typed >= TEXT_LENGTH && Long.bitCount(seen) >= TEXT_DIFFERENT;
  }

  private void see(int b, long now) {
    if (now - lastTyped > HAND_NANOS) {
      typed = 0;
      seen = 0;
    }
    // Answers of the terminal stand between keys, and are no typing.
    if (part == Part.NONE && b > ' ') {
      lastTyped = now;
      typed++;
      seen |= 1L << (b & 63);
    }
    if (b == ESCAPE) {
      part = Part.AFTER_ESCAPE;
      return;
    }
    part =
        switch (part) {
          case NONE, AFTER_O -> Part.NONE;
          case AFTER_ESCAPE -> b == '[' ? begin() : b == 'O' ? Part.AFTER_O : Part.NONE;
          // A final byte ends it; `ESC [ [ A` is the Linux console's F1.
          case PARAMETERS -> b >= 0x40 && b != '[' ? Part.NONE : Part.PARAMETERS;
        };
  }

  private Part begin() {
    parameters = 0;
    return Part.PARAMETERS;
  }
}
