package flametop.cli;

import flametop.export.ExportException;
import flametop.export.OutputFile;
import flametop.sampler.BatchSink;
import flametop.sampler.CleanText;
import flametop.sampler.SampleSource;
import flametop.sampler.StreamMonitor;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** The use that a recording makes of its batches. */
abstract class RecordingOutput implements AutoCloseable {
  /** Looks at the batches on their way to {@link #sink()}. */
  final StreamMonitor monitor;

  /** Null for stdout. */
  final @Nullable OutputFile file;

  /**
   * @param askAll whether to ask for the name of every frame, where the sink does not ask
   */
  RecordingOutput(SampleSource source, boolean askAll, @Nullable OutputFile file) {
    monitor = new StreamMonitor(source, askAll);
    this.file = file;
  }

  abstract BatchSink sink();

  /** Why nothing more can be written; null while it goes well. */
  @Nullable IOException failure() {
    return null;
  }

  /**
   * Writes what is still to be written, after the last batch.
   *
   * @return a line that says what and where
   */
  abstract String write() throws IOException, InterruptedException;

  @Override
  public void close() {}

  /** Takes what is written as it comes. */
  final OutputStream stream() {
    return file == null ? new FileOutputStream(FileDescriptor.out) : file.stream();
  }

  /** Brings what was written as it came to its place; throws the failure, if there was one. */
  final void finish() throws ExportException {
    if (file != null) {
      long unused = file.commit();
    }
    IOException failure = failure();
    if (failure != null) {
      throw file == null
          ? noStdout(failure, "what came before is written")
          : OutputFile.cannotWrite(file.path(), failure, "; what came before is kept there");
    }
  }

  /**
   * @param then what there is, or is to be done, in place of it
   */
  static ExportException noStdout(IOException why, String then) {
    String cause = CleanText.clean(String.valueOf(why.getMessage()), 500);
    return new ExportException("cannot write to stdout: " + cause + "; " + then);
  }

  /** The file for people. */
  static String name(OutputFile file) {
    return CleanText.clean(file.path().toString(), 1_024);
  }
}
