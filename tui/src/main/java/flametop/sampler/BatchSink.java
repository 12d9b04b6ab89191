package flametop.sampler;

import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Takes the batches of the stream, in order, on the sampler's thread; never waits. */
public interface BatchSink {
  /**
   * Takes one batch, from position to limit of the buffer. The sink gives the buffer back through
   * {@code release}, from any thread, when it has read it; until then no other batch is written
   * there.
   */
  void accept(ByteBuffer batch, Consumer<ByteBuffer> release);

  /**
   * No more batches come.
   *
   * @param cause why sampling ended early; null if it was closed, or a recorded stream is at its
   *     end
   */
  void ended(@Nullable Throwable cause);
}
