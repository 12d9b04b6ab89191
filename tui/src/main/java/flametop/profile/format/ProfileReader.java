package flametop.profile.format;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Reads profiles of one format. */
public interface ProfileReader {
  /**
   * The bytes of a profile.
   *
   * @param stream unpacked, from the first byte on
   * @param file which has the same bytes; null if there is none
   */
  record Source(InputStream stream, @Nullable Path file) {}

  /**
   * Reads a profile as far as it can be read.
   *
   * @throws IOException with a line for people; the stacks before it are good
   */
  void read(Source source, StackSink to) throws IOException;
}
