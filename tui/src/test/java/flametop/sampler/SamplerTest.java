package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class SamplerTest {
  private static final int MORE = 2;
  private static final int PASS = 1;

  /** Answers with batches that say what was asked. */
  private static final class Source extends QuietSource {
    final BlockingQueue<String> asked = new LinkedBlockingQueue<>();
    volatile int partsOfPass = 1;
    final AtomicLong late = new AtomicLong();
    volatile IOException failure;
    volatile boolean closed;
    private int sequence;
    private int part;

    @Override
    public int fill(ByteBuffer buffer, boolean pass, long late) throws IOException {
      if (failure != null) {
        throw failure;
      }
      this.late.addAndGet(late);
      asked.add(pass ? "pass" : "drain");
      int flags = 0;
      if (pass) {
        part = (part + 1) % partsOfPass;
        flags = part == 0 ? PASS : MORE;
      }
      byte[] batch = StreamBytes.batch(sequence++, 0, flags);
      buffer.clear().put(batch);
      return batch.length;
    }

    @Override
    public void setRates(int passHz, int cpuHz) {
      asked.add("rates " + passHz + " " + cpuHz);
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  /** Keeps every buffer until told otherwise. */
  private static final class Sink implements BatchSink {
    final BlockingQueue<Runnable> held = new LinkedBlockingQueue<>();
    final BlockingQueue<Integer> sequences = new LinkedBlockingQueue<>();
    final CompletableFuture<Throwable> ended = new CompletableFuture<>();
    volatile boolean hold;

    @Override
    public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
      sequences.add(batch.order(java.nio.ByteOrder.LITTLE_ENDIAN).getInt(16));
      if (hold) {
        held.add(() -> release.accept(batch));
      } else {
        release.accept(batch);
      }
    }

    @Override
    public void ended(Throwable cause) {
      ended.complete(cause);
    }
  }

  private final Source source = new Source();
  private final Sink sink = new Sink();

  private void awaitAsked(String what) throws InterruptedException {
    while (!what.equals(source.asked.take())) {}
  }

  @Test
  void start_anyRate_passesThenClosed() throws Exception {
    Sampler sampler = new Sampler(source, 99, 0, sink);
    sampler.start();
    awaitAsked("pass");
    awaitAsked("pass");
    sampler.close();
    assertTrue(source.closed);
    assertNull(sink.ended.get());
  }

  @Test
  void start_rarePasses_drainsBetween() throws Exception {
    try (Sampler sampler = new Sampler(source, 1, 99, sink)) {
      sampler.start();
      awaitAsked("pass");
      // On a slow machine the next pass may be due before the first drain.
      for (int drains = 0; drains < 2; ) {
        drains = source.asked.take().equals("drain") ? drains + 1 : 0;
      }
    }
  }

  @Test
  void pass_moreParts_allHandedInOrder() throws Exception {
    source.partsOfPass = 9;
    try (Sampler sampler = new Sampler(source, 19, 99, 1, sink)) {
      sampler.start();
      for (int i = 0; i < 9; i++) {
        assertEquals("pass", source.asked.take());
        assertEquals(i, sink.sequences.take());
      }
    }
  }

  @Test
  void pass_noBufferFree_countsAsLate() throws Exception {
    sink.hold = true;
    try (Sampler sampler = new Sampler(source, 999, 99, sink)) {
      sampler.start();
      List<Runnable> held = new ArrayList<>();
      for (int i = 0; i < Sampler.MOST_BUFFERS; i++) {
        held.add(sink.held.take());
      }
      assertNull(sink.held.poll(50, TimeUnit.MILLISECONDS), "all buffers are held");
      source.late.set(0);
      sink.hold = false;
      source.asked.clear();
      held.forEach(Runnable::run);
      awaitAsked("pass");
      awaitAsked("pass");
      assertTrue(source.late.get() > 0);
    }
  }

  @Test
  void start_passLimit_thenOnlyDrainsWithTheClockOff() throws Exception {
    try (Sampler sampler = new Sampler(source, 99, 49, 3, sink)) {
      sampler.start();
      for (int passes = 0; passes < 3; ) {
        passes += source.asked.take().equals("pass") ? 1 : 0;
      }
      awaitAsked("rates 99 0");
      assertTrue(sampler.finished());
      assertEquals("drain", source.asked.take());
      assertEquals("drain", source.asked.take());
    }
  }

  @Test
  void setRates_whileRunning_reachTheSource() throws Exception {
    try (Sampler sampler = new Sampler(source, 1, 99, sink)) {
      sampler.start();
      awaitAsked("pass");
      sampler.setRates(99, 0);
      awaitAsked("rates 99 0");
      awaitAsked("pass");
      awaitAsked("pass");
    }
  }

  @Test
  void fill_fails_sinkHearsTheCause() throws Exception {
    source.failure = new SamplerException("4\tprocess 12 is gone");
    try (Sampler sampler = new Sampler(source, 19, 99, sink)) {
      sampler.start();
      Throwable cause = sink.ended.get();
      assertSame(source.failure, cause);
      assertEquals(SamplerException.Kind.TARGET_GONE, ((SamplerException) cause).kind());
      assertEquals("process 12 is gone", cause.getMessage());
    }
    assertTrue(source.closed);
  }
}
