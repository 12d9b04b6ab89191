package flametop.term;

import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.TimeUnit;

/**
 * The terminal's input. As long as the bytes read end in an unfinished escape sequence, {@link
 * #available} lingers for the rest: otherwise an arrow key whose bytes come in two pieces would be
 * read as Escape and two letters. For what may be the Escape key alone it does not linger long.
 */
final class LingeringInput extends InputStream {
  private static final int ESCAPE = 0x1b;

  private enum Part {
    NONE,
    AFTER_ESCAPE,
    AFTER_O,
    PARAMETERS
  }

  private final InputStream terminal;
  private final long lingerNanos;

  /** For the rest of what can only be a key: nobody types {@code ESC [}. */
  private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(2);

  private Part part = Part.NONE;

  /**
   * @param lingerMillis after an Escape
   */
  LingeringInput(InputStream terminal, long lingerMillis) {
    this.terminal = terminal;
    this.lingerNanos = TimeUnit.MILLISECONDS.toNanos(lingerMillis);
  }

  @Override
  public int read() throws IOException {
    int b = terminal.read();
    see(b);
    return b;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int n = terminal.read(bytes, offset, length);
    for (int i = 0; i < n; i++) {
      see(bytes[offset + i]);
    }
    return n;
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

  private void see(int b) {
    if (b == ESCAPE) {
      part = Part.AFTER_ESCAPE;
      return;
    }
    part =
        switch (part) {
          case NONE, AFTER_O -> Part.NONE;
          case AFTER_ESCAPE -> b == '[' ? Part.PARAMETERS : b == 'O' ? Part.AFTER_O : Part.NONE;
          // A final byte ends it; `ESC [ [ A` is the Linux console's F1.
          case PARAMETERS -> b >= 0x40 && b != '[' ? Part.NONE : Part.PARAMETERS;
        };
  }
}
