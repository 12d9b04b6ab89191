package flametop.cli;

import flametop.sampler.BatchSink;
import flametop.sampler.StreamMonitor;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** The use that a recording makes of its batches. */
interface RecordingOutput extends AutoCloseable {
  /** Looks at the batches on their way to {@link #sink()}. */
  StreamMonitor monitor();

  BatchSink sink();

  /** Why nothing more can be written; null while it goes well. */
  @Nullable IOException failure();

  /**
   * Writes what is still to be written, after the last batch.
   *
   * @return a line that says what and where
   */
  String write() throws IOException, InterruptedException;

  @Override
  void close();
}
