package flametop.export;

import java.io.IOException;

/**
 * A file or stdout could not be written. The message is one line for people: which one, why, and
 * the remedy.
 */
public final class ExportException extends IOException {
  public ExportException(String message) {
    super(message);
  }
}
