package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Passes at their pace, on the real kernel. */
@Tag("kernel")
@Timeout(600)
class SamplerKernelTest {
  private static final int HZ = 49;
  private static final int PASSES = 980;

  @TempDir private Path folder;

  /** What a thread was seen doing. */
  private static final class Stepper {
    final String comm;
    final Map<Integer, Integer> passesByStack = new HashMap<>();
    int stack = -1;
    State state = State.RUN;

    Stepper(String comm) {
      this.comm = comm;
    }
  }

  /** Counts on which stack each thread sleeps at each pass. */
  private static final class Sink implements StreamVisitor, BatchSink {
    final StreamReader reader = new StreamReader(0, false);
    final Map<Integer, Stepper> threads = new HashMap<>();
    final CompletableFuture<Throwable> ended = new CompletableFuture<>();
    final CompletableFuture<Void> done = new CompletableFuture<>();
    private boolean endsPass;
    private int passes;

    @Override
    public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
      try {
        reader.read(batch, this);
      } catch (DamagedStreamException e) {
        done.completeExceptionally(e);
      }
      release.accept(batch);
    }

    @Override
    public void ended(Throwable cause) {
      ended.complete(cause);
    }

    @Override
    public void batchBegins(long time, int sequence, boolean endsPass, boolean more) {
      this.endsPass = endsPass;
    }

    @Override
    public void taskSeen(int task, int process, int tid, long start, boolean fresh, String comm) {
      threads.computeIfAbsent(task, id -> new Stepper(comm));
    }

    @Override
    public void taskChanged(Head head) {
      threads.get(head.task).stack = head.stack;
      threads.get(head.task).state = head.state;
    }

    @Override
    public void batchEnds() {
      if (!endsPass) {
        return;
      }
      for (Stepper thread : threads.values()) {
        if (thread.state == State.SLEEP) {
          thread.passesByStack.merge(thread.stack, 1, Integer::sum);
        }
      }
      if (++passes == PASSES) {
        done.complete(null);
      }
    }
  }

  @Test
  void pass_sleepsInStepWithThePeriod_areSeenForWhatTheyLast() throws Exception {
    String program = folder.resolve("steps").toString();
    String source = Path.of("src/test/programs/steps.c").toAbsolutePath().toString();
    Process compiler =
        new ProcessBuilder("cc", "-O1", "-pthread", "-o", program, source).inheritIO().start();
    assertEquals(0, compiler.waitFor());
    long cycle = TimeUnit.SECONDS.toNanos(1) / HZ;
    // 26 of 52 ms at 19 passes a second, and 5 of 52.
    long half = cycle / 2;
    long tenth = cycle * 5 / 52;
    Process steps =
        new ProcessBuilder(
                List.of(
                    program,
                    "half",
                    "" + half,
                    "" + (cycle - half),
                    "tenth",
                    "" + tenth,
                    "" + (cycle - tenth)))
            .start();
    try {
      assertEquals('r', steps.getInputStream().read());
      Sink sink = new Sink();
      Target target = Target.processes(List.of((int) steps.pid()));
      KernelSource kernel = KernelSource.open(target, HZ, 0, false, "");
      try (Sampler sampler = new Sampler(kernel, HZ, 0, PASSES, sink)) {
        sampler.start();
        sink.done.get();
      }
      Map<String, Double> shares = new HashMap<>();
      for (Stepper thread : sink.threads.values()) {
        List<Integer> passes = thread.passesByStack.values().stream().sorted().toList();
        List<Integer> two = passes.subList(Math.max(0, passes.size() - 2), passes.size());
        int all = passes.stream().mapToInt(Integer::intValue).sum();
        int fewer = two.size() < 2 ? 0 : Collections.min(two);
        shares.put(thread.comm, (double) fewer / all);
      }
      assertShare(0.5, shares.get("half"));
      assertShare(5 / 52.0, shares.get("tenth"));
    } finally {
      steps.destroyForcibly();
    }
  }

  /** Wrong by chance once in a million runs. */
  private static void assertShare(double share, double seen) {
    double error = Math.sqrt(share * (1 - share) / PASSES);
    assertTrue(Math.abs(seen - share) < 5 * error, share + " was seen as " + seen);
  }
}
