package flametop.cli;

import flametop.export.ExportException;
import flametop.export.OutputFile;
import flametop.export.XstackWriter;
import flametop.profile.answer.StateSet;
import flametop.sampler.BatchSink;
import flametop.sampler.CleanText;
import flametop.sampler.DamagedStreamException;
import flametop.sampler.SampleSource;
import flametop.sampler.StreamMonitor;
import flametop.sampler.StreamReader;
import java.io.BufferedWriter;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Writes rows of tasks while the stream comes, on a thread of its own. */
final class RowOutput implements RecordingOutput, BatchSink {
  private final @Nullable OutputFile file;
  private final StreamMonitor monitor;
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
    this.file = file;
    OutputStream out = file == null ? new FileOutputStream(FileDescriptor.out) : file.stream();
    monitor = new StreamMonitor(source, true);
    reader = new StreamReader(source.header().length, false);
    rows =
        new XstackWriter(
            new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8), 1 << 16),
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
  public StreamMonitor monitor() {
    return monitor;
  }

  @Override
  public BatchSink sink() {
    return this;
  }

  @Override
  public @Nullable IOException failure() {
    return failure;
  }

  @Override
  public String write() throws IOException, InterruptedException {
    long count;
    try {
      count = written.get();
    } catch (ExecutionException e) {
      throw new IOException(Failure.of(e).message(), e);
    }
    IOException failed = failure;
    if (file == null) {
      if (failed != null) {
        throw new ExportException(
            "cannot write to stdout: "
                + CleanText.clean(String.valueOf(failed.getMessage()), 500)
                + "; what came before is written");
      }
      return String.format(Locale.ROOT, "wrote %,d rows to stdout", count);
    }
    long unused = file.commit();
    if (failed != null) {
      throw OutputFile.cannotWrite(file.path(), failed, "; what came before is kept there");
    }
    return String.format(
        Locale.ROOT, "wrote %s: %,d rows", CleanText.clean(file.path().toString(), 1_024), count);
  }

  @Override
  public void close() {}
}
