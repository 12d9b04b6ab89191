package flametop.cli;

import flametop.export.OutputFile;
import flametop.export.XstackWriter;
import flametop.profile.answer.StateSet;
import flametop.sampler.BatchSink;
import flametop.sampler.DamagedStreamException;
import flametop.sampler.SampleSource;
import flametop.sampler.StreamReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Writes rows of tasks while the stream comes, on a thread of its own. */
final class RowOutput extends RecordingOutput implements BatchSink {
  private final StreamReader reader;
  private final XstackWriter rows;
  private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
  private final CompletableFuture<Long> written = new CompletableFuture<>();
  private boolean ended;
  private volatile @Nullable IOException failure;

  /**
   * @param header whether the names of the columns stand first
   * @param reversed whether innermost frames are first
   * @param file null for stdout
   */
  RowOutput(
      SampleSource source,
      StateSet states,
      boolean header,
      boolean reversed,
      @Nullable OutputFile file) {
    super(source, true, file);
    reader = new StreamReader(source.header().length, false);
    rows =
        new XstackWriter(
            new BufferedWriter(new OutputStreamWriter(stream(), StandardCharsets.UTF_8), 1 << 16),
            source.facts(),
            states,
            header,
            reversed);
    Thread thread = new Thread(this::run, "rows");
    thread.setDaemon(true);
    thread.start();
  }

  private void run() {
    try {
      while (!ended) {
        queue.take().run();
      }
      guarded(rows::end);
      written.complete(rows.rows());
    } catch (InterruptedException | RuntimeException e) {
      written.completeExceptionally(e);
    }
  }

  private void guarded(Runnable write) {
    if (failure == null) {
      try {
        write.run();
      } catch (UncheckedIOException e) {
        failure = e.getCause();
      }
    }
  }

  @Override
  public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
    queue.add(
        () -> {
          try {
            guarded(() -> read(batch));
          } finally {
            release.accept(batch);
          }
        });
  }

  private void read(ByteBuffer batch) {
    try {
      reader.read(batch, rows);
    } catch (DamagedStreamException e) {
      throw new UncheckedIOException(new IOException(e.getMessage(), e));
    }
  }

  @Override
  public void ended(@Nullable Throwable cause) {
    queue.add(() -> ended = true);
  }

  @Override
  BatchSink sink() {
    return this;
  }

  @Override
  @Nullable IOException failure() {
    return failure;
  }

  @Override
  String write() throws IOException, InterruptedException {
    long count = Failure.got(written);
    finish();
    return file == null
        ? String.format(Locale.ROOT, "wrote %,d rows to stdout", count)
        : String.format(Locale.ROOT, "wrote %s: %,d rows", name(file), count);
  }
}
