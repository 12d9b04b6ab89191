package flametop.term;

import java.io.IOException;

/** This terminal cannot show a screen. The message is one line for people. */
public final class NoScreenException extends IOException {
  NoScreenException(String message) {
    super(message);
  }
}
