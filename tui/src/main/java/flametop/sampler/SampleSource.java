package flametop.sampler;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Where batches of the stream come from: the kernel, or a recorded stream. Used by one thread (see
 * {@link Sampler}), but for {@link #names()}, which any thread may use.
 */
public interface SampleSource extends AutoCloseable {
  /** The facts of the stream's header. */
  StreamFacts facts();

  /** The stream's file header, as it stands at the start of a recording. */
  byte[] header();

  /**
   * Fills one batch from position 0 on; {@link StreamReader} decodes it.
   *
   * @param buffer direct, at least {@link Sampler#BUFFER_BYTES}
   * @param pass whether a pass is to be made; if the batch says MORE, its rest comes with the next
   *     calls, whatever they ask
   * @param late passes that were due but not made since the last call
   * @return bytes written; 0 if there is nothing to tell; -1 at the end of a recorded stream
   * @throws SamplerException if sampling cannot go on
   * @throws DamagedStreamException if the recorded stream is damaged from here on
   */
  int fill(ByteBuffer buffer, boolean pass, long late) throws IOException;

  /**
   * Changes the rates from the next call on; {@code cpuHz} 0 switches the CPU clock off. A recorded
   * stream keeps its own.
   */
  void setRates(int passHz, int cpuHz) throws IOException;

  /** Takes requests for names of frames. */
  NameRequests names();

  /** Whether the batches have times of their own, so that the caller need not keep deadlines. */
  default boolean recorded() {
    return false;
  }

  @Override
  void close();
}
