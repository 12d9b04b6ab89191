package flametop.sampler;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(600)
class ReplaySourceTest {
  private static final byte[] STREAM =
      new StreamBytes(1, "host=test\ntarget=all\n")
          .batch(1_000, 1, StreamBytes.counters(1, 0, 1))
          .batch(2_000, 1, StreamBytes.counters(2, 0, 2))
          .batch(3_000_000_000_000L, 1, StreamBytes.counters(3, 0, 3))
          .bytes();

  @TempDir private Path folder;

  private Path file(byte[] bytes) throws IOException {
    return Files.write(folder.resolve("a.flametop"), bytes);
  }

  /** All that a replay at full speed tells. */
  private static StreamMonitor replayed(ReplaySource source, BatchSink sink) {
    return replayed(source, new StreamMonitor(source, false), sink);
  }

  private static StreamMonitor replayed(
      ReplaySource source, StreamMonitor monitor, BatchSink sink) {
    try (Sampler sampler = new Sampler(source, 19, 99, monitor.before(sink))) {
      sampler.start();
      monitor.ended().join();
    }
    return monitor;
  }

  private static final BatchSink NOWHERE = new QuietSource.Sink();

  @Test
  void open_wholeStream_allBatches() throws IOException {
    ReplaySource source = ReplaySource.open(file(STREAM), 0);
    assertEquals("test", source.facts().host());
    StreamMonitor monitor = replayed(source, NOWHERE);
    assertEquals(3, monitor.counters()[Counter.PASSES_DUE.ordinal()]);
    assertEquals(List.of(), monitor.notices());
    assertFalse(source.damaged());
  }

  @Test
  void fill_realSpeed_waitsForTheTimeOfTheBatch() throws IOException {
    try (ReplaySource source = ReplaySource.open(file(STREAM), 1)) {
      ByteBuffer buffer = ByteBuffer.allocateDirect(Sampler.BUFFER_BYTES);
      assertTrue(source.fill(buffer, false, 0) > 0);
      assertTrue(source.fill(buffer, false, 0) > 0);
      assertEquals(0, source.fill(buffer, false, 0), "the third is hours later");
    }
  }

  @Test
  void replay_damagedBatch_usedUpToTheDamage() throws IOException {
    byte[] bytes = STREAM.clone();
    bytes[bytes.length - 1] ^= 1;
    ReplaySource source = ReplaySource.open(file(bytes), 0);
    StreamMonitor monitor = replayed(source, NOWHERE);
    assertEquals(2, monitor.counters()[Counter.PASSES_DUE.ordinal()]);
    assertTrue(source.damaged());
    assertEquals(1, monitor.notices().size());
    assertTrue(
        monitor.notices().get(0).matches(".*a.flametop is damaged at byte [0-9]+: .*"),
        monitor.notices()::toString);
  }

  @Test
  void replay_cutAnywhere_usedUpToTheCut() throws IOException {
    int header = StreamBytes.header().length;
    for (int length = header; length < STREAM.length; length++) {
      ReplaySource source = ReplaySource.open(file(Arrays.copyOf(STREAM, length)), 0);
      StreamMonitor monitor = replayed(source, NOWHERE);
      int expected = (length - header) / ((STREAM.length - header) / 3);
      assertEquals(expected, monitor.counters()[Counter.PASSES_DUE.ordinal()]);
    }
  }

  @Test
  void replay_timeThatNoClockHas_isDamage() throws IOException {
    for (long time : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE}) {
      byte[] bytes =
          new StreamBytes(1, "target=all\n").batch(1_000, 1).batch(time, 1).batch(2_000, 1).bytes();
      ReplaySource source = ReplaySource.open(file(bytes), 0);
      StreamMonitor monitor = replayed(source, NOWHERE);
      assertTrue(source.damaged());
      assertTrue(
          monitor.notices().get(0).contains("a time of " + Long.toUnsignedString(time)),
          monitor.notices()::toString);
    }
  }

  @Test
  void open_newerVersion_refusedByName() throws IOException {
    Path newer = file(new StreamBytes(7, "").bytes());
    SamplerException e = assertThrows(SamplerException.class, () -> ReplaySource.open(newer, 0));
    assertTrue(
        e.getMessage()
            .endsWith(
                "is a flametop stream of version 7, this flametop reads up to version 2: open it with a newer flametop"),
        e::getMessage);
  }

  @Test
  void open_noStreamNoFileFolder_oneLineEach() throws IOException {
    for (Path path :
        List.of(
            file(new byte[100]),
            file(new byte[3]),
            folder,
            folder.resolve("none"),
            Path.of("/dev/zero"))) {
      SamplerException e = assertThrows(SamplerException.class, () -> ReplaySource.open(path, 0));
      assertTrue(
          e.getMessage().startsWith(path.toString()) && !e.getMessage().contains("\n"),
          e::getMessage);
    }
  }

  @Test
  void record_replayedStream_sameBytes() throws Exception {
    ReplaySource source = ReplaySource.open(file(STREAM), 0);
    ByteArrayOutputStream copy = new ByteArrayOutputStream();
    StreamRecorder recorder = new StreamRecorder(source.header(), copy);
    replayed(source, recorder);
    assertEquals(STREAM.length, recorder.written().get());
    assertNull(recorder.failure());
    assertArrayEquals(STREAM, copy.toByteArray());
  }

  @Test
  void record_diskFull_wholeBatchesCounted() throws Exception {
    ReplaySource source = ReplaySource.open(file(STREAM), 0);
    int room = StreamBytes.header().length + (STREAM.length - StreamBytes.header().length) / 3;
    OutputStream full =
        new OutputStream() {
          private int left = room + 5;

          @Override
          public void write(int b) throws IOException {
            if (left-- == 0) {
              throw new IOException("No space left on device");
            }
          }
        };
    StreamRecorder recorder = new StreamRecorder(source.header(), full);
    replayed(source, recorder);
    assertEquals(room, recorder.written().get());
    assertEquals("No space left on device", recorder.failure().getMessage());
  }

  @Test
  void frames_askAll_awaitedUntilNamed() throws IOException {
    byte[] golden = Files.readAllBytes(GoldenStreamTest.GOLDEN.resolve("v1.flametop"));
    ReplaySource source = ReplaySource.open(file(golden), 0);
    StreamMonitor monitor = replayed(source, new StreamMonitor(source, true), NOWHERE);
    assertEquals(0, monitor.namesAwaited(), "all six frames before the damage have names");
  }

  @Test
  void batches_sinkReadsThem_heldUntilReleased() throws IOException {
    ReplaySource source = ReplaySource.open(file(STREAM), 0);
    StreamMonitor monitor = new StreamMonitor(source, false);
    List<Integer> held = new ArrayList<>();
    BatchSink reader =
        new QuietSource.Sink() {
          @Override
          public void accept(ByteBuffer batch, Consumer<ByteBuffer> release) {
            held.add(monitor.batchesHeld());
            super.accept(batch, release);
            held.add(monitor.batchesHeld());
          }
        };
    replayed(source, monitor, reader);
    assertEquals(List.of(1, 0, 1, 0, 1, 0), held);
  }
}
