package flametop.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The standard output of this process. Keeps the first failure, which a print writer would hide.
 */
final class StandardOutput extends OutputStream {
  private final OutputStream out = new FileOutputStream(FileDescriptor.out);
  private @Nullable IOException failure;

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    try {
      out.write(bytes, from, length);
    } catch (IOException e) {
      IOException told = "Broken pipe".equals(e.getMessage()) ? new ReaderGone() : e;
      failure = failure == null ? told : failure;
      throw told;
    }
  }

  /** The reader has ended, as {@code head} does when it has its lines. */
  static final class ReaderGone extends IOException {
    /** Whether this is why something failed. */
    static boolean isCauseOf(Throwable thrown) {
      for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
        if (cause instanceof ReaderGone) {
          return true;
        }
      }
      return false;
    }
  }

  /** Why something could not be written; null: all was. */
  @Nullable IOException failure() {
    return failure;
  }
}
