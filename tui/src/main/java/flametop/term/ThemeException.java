package flametop.term;

/** A theme cannot be used; the message names the file, the line and what mends it. */
public final class ThemeException extends Exception {
  private static final long serialVersionUID = 1;

  ThemeException(String message) {
    super(message);
  }
}
