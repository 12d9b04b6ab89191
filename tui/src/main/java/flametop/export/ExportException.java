package flametop.export;

import java.io.IOException;

/**
 * Something could not be written. The message is one line for people: what, why, and what mends it.
 */
public final class ExportException extends IOException {
  public ExportException(String message) {
    super(message);
  }
}
