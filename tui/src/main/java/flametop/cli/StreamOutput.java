package flametop.cli;

import flametop.export.ExportException;
import flametop.export.OutputFile;
import flametop.sampler.BatchSink;
import flametop.sampler.CleanText;
import flametop.sampler.SampleSource;
import flametop.sampler.StreamMonitor;
import flametop.sampler.StreamRecorder;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Writes the stream while it comes. */
final class StreamOutput implements RecordingOutput {
  private final @Nullable OutputFile file;
  private final StreamMonitor monitor;
  private final StreamRecorder recorder;

  /**
   * @param file null for stdout
   */
  StreamOutput(SampleSource source, @Nullable OutputFile file) {
    this.file = file;
    OutputStream out = file == null ? new FileOutputStream(FileDescriptor.out) : file.stream();
    monitor = new StreamMonitor(source, true);
    recorder = new StreamRecorder(source.header(), out);
  }

  @Override
  public StreamMonitor monitor() {
    return monitor;
  }

  @Override
  public BatchSink sink() {
    return recorder;
  }

  @Override
  public @Nullable IOException failure() {
    return recorder.failure();
  }

  @Override
  public String write() throws IOException, InterruptedException {
    long bytes;
    try {
      bytes = recorder.written().get();
    } catch (java.util.concurrent.ExecutionException e) {
      throw new IOException(Failure.of(e).message(), e);
    }
    IOException failure = recorder.failure();
    if (file == null) {
      if (failure != null) {
        throw new ExportException(
            "cannot write to stdout: "
                + CleanText.clean(String.valueOf(failure.getMessage()), 500)
                + "; what came before is written");
      }
      return String.format(Locale.ROOT, "wrote a stream of %,d bytes to stdout", bytes);
    }
    if (failure != null) {
      file.cutAt(bytes);
      file.commit();
      throw OutputFile.cannotWrite(file.path(), failure, "; what came before is kept there");
    }
    return String.format(
        Locale.ROOT,
        "wrote %s: a stream of %,d bytes; flametop --replay shows it",
        CleanText.clean(file.path().toString(), 1_024),
        file.commit());
  }

  @Override
  public void close() {}
}
