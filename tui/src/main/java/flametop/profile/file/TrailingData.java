package flametop.profile.file;

import java.io.IOException;

/** Behind the end of packed data there is something that is not packed. */
final class TrailingData extends IOException {
  private static final long serialVersionUID = 1;
}
