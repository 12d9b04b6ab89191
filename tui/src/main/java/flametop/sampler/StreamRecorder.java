package flametop.sampler;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the stream as it comes to a file, on a thread of its own, so that a slow disk delays no
 * pass until all buffers wait.
 */
public final class StreamRecorder implements BatchSink {
  private final OutputStream out;
  private final BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>();
  private final CompletableFuture<Long> written = new CompletableFuture<>();

  private final byte[] copy = new byte[Sampler.BUFFER_BYTES];
  private long bytes;
  private boolean ended;
  private volatile @Nullable IOException failure;

  /**
   * @param header of the source; the first bytes of the file
   * @param out takes whole batches, unbuffered; not closed here
   */
  public StreamRecorder(byte[] header, OutputStream out) {
    this.out = out;
    queue.add(() -> write(header, header.length));
    Thread thread = new Thread(this::run, "recorder");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Completes after the last batch with the number of bytes that were written: whole batches, up to
   * a {@link #failure()}.
   */
  public CompletableFuture<Long> written() {
    return written;
  }

  /** Why writing failed; null while it goes well. What came before is in the file. */
  public @Nullable IOException failure() {
    return failure;
  }

  @Override
  public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
    queue.add(
        () -> {
          int length = batch.remaining();
          batch.get(copy, 0, length);
          release.accept(batch);
          write(copy, length);
        });
  }

  @Override
  public void ended(@Nullable Throwable cause) {
    queue.add(() -> ended = true);
  }

  private void run() {
    try {
      while (!ended) {
        queue.take().run();
      }
      written.complete(bytes);
    } catch (InterruptedException | RuntimeException e) {
      written.completeExceptionally(e);
    }
  }

  private void write(byte[] from, int length) {
    if (failure != null) {
      return;
    }
    try {
      out.write(from, 0, length);
      bytes += length;
    } catch (IOException e) {
      failure = e;
    }
  }
}
