package flametop.term;

import java.util.Objects;

/** A theme cannot be used; the message names the file, the line and what mends it. */
public final class ThemeException extends Exception {
  private static final long serialVersionUID = 1;

  private final boolean placed;

  ThemeException(String message) {
    this(message, false);
  }

  private ThemeException(String message, boolean placed) {
    super(message);
    this.placed = placed;
  }

  @Override
  public String getMessage() {
    return Objects.requireNonNull(super.getMessage());
  }

  /** The same error with a place, unless it has the place of another file already. */
  ThemeException at(String place) {
    return placed ? this : new ThemeException(place + ": " + getMessage(), true);
  }
}
