package flametop.sampler;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A source that has nothing to tell. */
class QuietSource implements SampleSource {
  /** Gives each batch back at once. */
  static class Sink implements BatchSink {
    @Override
    public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
      release.accept(batch);
    }

    @Override
    public void ended(@Nullable Throwable cause) {}
  }

  @Override
  public StreamFacts facts() {
    return StreamFacts.parse("");
  }

  @Override
  public byte[] header() {
    return StreamBytes.header();
  }

  @Override
  public int fill(ByteBuffer buffer, boolean pass, long late) throws IOException {
    return 0;
  }

  @Override
  public void setRates(int passHz, int cpuHz) {}

  @Override
  public NameRequests names() {
    return (frames, count) -> {};
  }

  @Override
  public void close() {}
}
