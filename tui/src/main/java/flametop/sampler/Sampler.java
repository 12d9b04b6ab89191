package flametop.sampler;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The sampler thread: makes passes on absolute deadlines, which are in step with nothing ({@link
 * PassPace}), and hands their batches on.
 *
 * <p>A deadline that comes while the last pass is still going on, or while all buffers are with the
 * sink, is late: the pass is not made, and the source is told so that passes due are late plus
 * made. A batch is never dropped after its pass, since it holds changes. Where passes are rare the
 * source is drained in between, so that its rings do not fill and names come soon.
 */
public final class Sampler implements AutoCloseable {
  /** Room for one batch. */
  public static final int BUFFER_BYTES = 1 << 18;

  /** Made when none is free: so long may the sink be kept from a CPU before passes are late. */
  static final int MOST_BUFFERS = 16;

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long DRAIN_NANOS = SECOND / 10;

  private final SampleSource source;
  private final BatchSink sink;
  private final BlockingQueue<ByteBuffer> free = new ArrayBlockingQueue<>(MOST_BUFFERS);
  private final Thread thread = new Thread(this::run, "sampler");

  /** Set from outside, read by the thread. */
  private volatile Rates wanted;

  private volatile boolean draining;
  private volatile long begun;
  private volatile boolean closing;

  private final PassPace pace = new PassPace(new SplittableRandom());
  private Rates rates;
  private long passesLeft;
  private long deadline;

  /** From the deadline before. */
  private long interval;

  private long drainBy;
  private long late;
  private int buffers;

  private record Rates(int passHz, int cpuHz) {
    long periodNanos() {
      return SECOND / passHz;
    }
  }

  /**
   * @param passHz passes a second, 1 or more
   * @param cpuHz rate of the CPU clock; 0: off
   */
  public Sampler(SampleSource source, int passHz, int cpuHz, BatchSink sink) {
    this(source, passHz, cpuHz, Long.MAX_VALUE, sink);
  }

  /**
   * @param passes after so many it only drains, as after {@link #finish()}
   */
  public Sampler(SampleSource source, int passHz, int cpuHz, long passes, BatchSink sink) {
    this.source = source;
    this.sink = sink;
    passesLeft = passes;
    rates = new Rates(passHz, cpuHz);
    wanted = rates;
    thread.setDaemon(true);
  }

  /** Starts the thread; the first pass is due at once. The source is closed at its end. */
  public void start() {
    thread.start();
  }

  /** Changes the rates; the next pass is due one interval of the new rate after the last one. */
  public void setRates(int passHz, int cpuHz) {
    wanted = new Rates(passHz, cpuHz);
    LockSupport.unpark(thread);
  }

  /**
   * Makes no more passes and stops the CPU clock, but goes on draining until closed: samples wait
   * in rings, and names are still to come.
   */
  public void finish() {
    draining = true;
    LockSupport.unpark(thread);
  }

  /** How long it has sampled or replayed, in ns: since the first pass was whole. */
  public long elapsedNanos() {
    long since = begun;
    return since == 0 ? 0 : System.nanoTime() - since;
  }

  /** Whether it makes no more passes. */
  public boolean finished() {
    return draining || !thread.isAlive();
  }

  /** Ends the thread and closes the source, and waits for both. */
  @Override
  public void close() {
    closing = true;
    LockSupport.unpark(thread);
    boolean interrupted = false;
    while (thread.isAlive() && Thread.currentThread() != thread) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    Throwable cause = null;
    try {
      if (source.recorded()) {
        replay();
      } else {
        sample();
      }
    } catch (IOException | RuntimeException | LinkageError | OutOfMemoryError e) {
      cause = e;
    } finally {
      source.close();
      sink.ended(cause);
    }
  }

  private void replay() throws IOException {
    begun = System.nanoTime();
    while (!closing) {
      ByteBuffer buffer = take();
      if (buffer == null) {
        return;
      }
      int length = source.fill(buffer, false, 0);
      if (length < 0) {
        return;
      }
      hand(buffer, length);
    }
  }

  private void sample() throws IOException {
    deadline = System.nanoTime();
    drainBy = deadline + DRAIN_NANOS;
    boolean clockStopped = false;
    while (!closing) {
      if (draining && !clockStopped) {
        clockStopped = true;
        source.setRates(rates.passHz, 0);
      }
      Rates asked = wanted;
      if (!asked.equals(rates)) {
        long drawn = Math.round((double) interval / rates.periodNanos() * asked.periodNanos());
        deadline = Math.max(deadline + drawn - interval, System.nanoTime());
        interval = drawn;
        rates = asked;
        source.setRates(rates.passHz, draining ? 0 : rates.cpuHz);
      }
      long now = System.nanoTime();
      if (!draining && now - deadline >= 0) {
        pass(now);
      } else if (now - drainBy >= 0) {
        drain(now);
      } else {
        long wait = draining ? drainBy - now : Math.min(drainBy, deadline) - now;
        LockSupport.parkNanos(this, wait);
      }
    }
  }

  private void pass(long now) throws IOException {
    long due = 0;
    while (now - deadline >= 0) {
      due++;
      interval = pace.next(rates.periodNanos());
      deadline += interval;
    }
    ByteBuffer buffer = poll();
    if (buffer == null) {
      late += due;
      return;
    }
    late += due - 1;
    boolean more;
    do {
      int length = source.fill(buffer, true, late);
      late = 0;
      more = length > 0 && StreamReader.more(buffer.limit(length).position(0));
      hand(buffer, length);
      buffer = more ? take() : null;
    } while (buffer != null);
    long end = System.nanoTime();
    drainBy = end + DRAIN_NANOS;
    if (begun == 0) {
      // The first pass reads every stack, and every file that is mapped: the start, not the pace.
      begun = end;
      deadline = end + interval;
    }
    if (--passesLeft == 0) {
      draining = true;
    }
  }

  private void drain(long now) throws IOException {
    drainBy = now + DRAIN_NANOS;
    ByteBuffer buffer = poll();
    if (buffer != null) {
      hand(buffer, source.fill(buffer, false, late));
      late = 0;
    }
  }

  /** A free buffer; null if all are with the sink. */
  private @Nullable ByteBuffer poll() {
    ByteBuffer buffer = free.poll();
    if (buffer == null && buffers < MOST_BUFFERS) {
      buffers++;
      buffer = ByteBuffer.allocateDirect(BUFFER_BYTES);
    }
    return buffer;
  }

  /** Waits for a free buffer; null when it is to close. */
  private @Nullable ByteBuffer take() {
    ByteBuffer buffer = poll();
    try {
      while (buffer == null && !closing) {
        buffer = free.poll(DRAIN_NANOS, TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      closing = true;
    }
    return buffer;
  }

  private void hand(ByteBuffer buffer, int length) {
    if (length > 0) {
      sink.accept(buffer.limit(length).position(0), this::release);
    } else {
      release(buffer);
    }
  }

  private void release(ByteBuffer buffer) {
    free.add(buffer.clear());
  }
}
