package flametop.cli;

import flametop.export.OutputFile;
import flametop.sampler.BatchSink;
import flametop.sampler.SampleSource;
import flametop.sampler.StreamRecorder;
import java.io.IOException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Writes the stream while it comes. */
final class StreamOutput extends RecordingOutput {
  private final StreamRecorder recorder;

  /**
   * @param file null for stdout
   */
  StreamOutput(SampleSource source, @Nullable OutputFile file) {
    super(source, true, file);
    recorder = new StreamRecorder(source.header(), stream());
  }

  @Override
  BatchSink sink() {
    return recorder;
  }

  @Override
  @Nullable IOException failure() {
    return recorder.failure();
  }

  @Override
  String write() throws IOException, InterruptedException {
    long bytes = Failure.got(recorder.written());
    if (file != null && failure() != null) {
      file.cutAt(bytes);
    }
    finish();
    return file == null
        ? String.format(Locale.ROOT, "wrote a stream of %,d bytes to stdout", bytes)
        : String.format(
            Locale.ROOT,
            "wrote %s: a stream of %,d bytes; flametop --replay shows it",
            name(file),
            bytes);
  }
}
