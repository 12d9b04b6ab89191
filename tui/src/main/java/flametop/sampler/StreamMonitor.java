package flametop.sampler;

import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the batches on their way to a sink, for one who runs sampling without a screen: how far
 * sampling is, which notices came, and whether names are still to come. Any thread may call these
 * methods.
 */
public final class StreamMonitor implements NameRequests {
  private static final int MOST_NOTICES = 1_000;

  private final StreamReader reader;
  private final NameRequests requests;
  private final boolean askAll;
  private final StreamVisitor watcher = new Watcher();
  private final CompletableFuture<Void> ended = new CompletableFuture<>();

  /**
   * Frames that are not forgotten, the frames among them whose names were asked for, and those
   * whose names have come.
   */
  private final BitSet known = new BitSet();

  private final BitSet asked = new BitSet();
  private final BitSet named = new BitSet();
  private final BitSet placesAwaited = new BitSet();
  private final List<String> notices = new ArrayList<>();
  private final Map<Integer, String> missingSources = new TreeMap<>();

  /** Sources of events that were on, or missing, at any time. */
  private final Set<Integer> settledSources = new HashSet<>();

  private long[] counters = new long[Counter.values().length];
  private long time;
  private long batches;
  private int batchesHeld;
  private long ownNanos;

  /**
   * @param askAll whether to ask for the name of every frame, where the sink does not ask
   */
  public StreamMonitor(SampleSource source, boolean askAll) {
    reader = new StreamReader(source.header().length, false);
    requests = source.names();
    this.askAll = askAll;
  }

  /** Sees each batch before this sink, which asks for names through this object. */
  public BatchSink before(BatchSink sink) {
    return new BatchSink() {
      @Override
      public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
        see(batch);
        sink.accept(
            batch,
            read -> {
              release.accept(read);
              released();
            });
      }

      @Override
      public void ended(@Nullable Throwable cause) {
        sink.ended(cause);
        if (cause == null) {
          ended.complete(null);
        } else {
          ended.completeExceptionally(cause);
        }
      }
    };
  }

  /** Totals by {@link Counter#ordinal()}, of the last batch. */
  public synchronized long[] counters() {
    return counters.clone();
  }

  /** The notices that came, oldest first. */
  public synchronized List<String> notices() {
    return List.copyOf(notices);
  }

  /** The notices that came since they were taken last: for who runs so long that all are many. */
  public synchronized List<String> takeNotices() {
    List<String> taken = List.copyOf(notices);
    notices.clear();
    return taken;
  }

  /** Time of the last batch, ns, CLOCK_MONOTONIC; 0 before the first. */
  public synchronized long time() {
    return time;
  }

  /** How many sources of events have been on, or missing, at any time. */
  public synchronized int settledSources() {
    return settledSources.size();
  }

  /** Why sources of events are missing, with the spec of each, by the number of the source. */
  public synchronized Map<Integer, String> missingSources() {
    return Map.copyOf(missingSources);
  }

  /** ns of CPU that flametop has cost; 0 before it is known. */
  public synchronized long ownNanos() {
    return ownNanos;
  }

  /** Batches that had counters. */
  public synchronized long batches() {
    return batches;
  }

  /** Batches that the sink has not released: it may ask for names in them. */
  public synchronized int batchesHeld() {
    return batchesHeld;
  }

  /** How many names were asked for and have not come. */
  public synchronized int namesAwaited() {
    BitSet awaited = (BitSet) asked.clone();
    awaited.andNot(named);
    return awaited.cardinality();
  }

  /** Asks for inlined functions and source lines of every frame seen so far. */
  public void askPlaces() {
    int[] frames;
    synchronized (this) {
      placesAwaited.or(known);
      frames = known.stream().toArray();
    }
    requests.askPlaces(frames, frames.length);
  }

  /** How many places were asked for and have not come. */
  public synchronized int placesAwaited() {
    return placesAwaited.cardinality();
  }

  /** Completes when no more batches come; exceptionally with the cause, if there is one. */
  public CompletableFuture<Void> ended() {
    return ended;
  }

  @Override
  public void ask(int[] frames, int count) {
    synchronized (this) {
      for (int i = 0; i < count; i++) {
        // Who asks may be behind: what is forgotten is not answered.
        if (known.get(frames[i])) {
          asked.set(frames[i]);
        }
      }
    }
    requests.ask(frames, count);
  }

  private synchronized void see(ByteBuffer batch) {
    try {
      reader.read(batch, watcher);
    } catch (DamagedStreamException e) {
      throw new UncheckedIOException("the stream of the native side is " + e.getMessage(), e);
    }
    batchesHeld++;
  }

  private synchronized void released() {
    batchesHeld--;
  }

  private final class Watcher implements StreamVisitor {
    @Override
    public void batchBegins(long time, int sequence, boolean endsPass, boolean more) {
      StreamMonitor.this.time = time;
    }

    @Override
    public void counters(long[] totals) {
      counters = totals.clone();
      batches++;
    }

    @Override
    public void hostUsage(int load1, int load5, int load15, int passHz, int cpuHz, long ownCpu) {
      ownNanos = ownCpu;
    }

    @Override
    public void sourceSeen(
        int source, SourceState state, SourceUnit unit, String spec, String why) {
      missingSources.remove(source);
      if (state.equals(SourceState.ON) || state.equals(SourceState.MISSING)) {
        settledSources.add(source);
      }
      if (state.equals(SourceState.MISSING)) {
        missingSources.put(source, why);
      }
    }

    @Override
    public void frameSeen(int frame, int module, long offset, boolean guessed) {
      known.set(frame);
      if (askAll) {
        ask(new int[] {frame}, 1);
      }
    }

    @Override
    public void name(int frame, NameSource source, String name) {
      named.set(frame);
    }

    @Override
    public void forgotten(IdSpace space, int[] ids) {
      if (space == IdSpace.FRAME) {
        for (int frame : ids) {
          known.clear(frame);
          asked.clear(frame);
          named.clear(frame);
          placesAwaited.clear(frame);
        }
      }
    }

    @Override
    public void place(int frame, List<Call> calls, String missing) {
      placesAwaited.clear(frame);
    }

    @Override
    public void notice(int level, int process, String text) {
      if (notices.size() < MOST_NOTICES && !notices.contains(text)) {
        notices.add(text);
      }
    }
  }
}
