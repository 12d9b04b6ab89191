package flametop.sampler;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** Decoding of what comes most: records of changed tasks, and names. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
    value = 1,
    jvmArgsAppend = {"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx512m"})
public class StreamReaderBenchmark {
  private static final int RECORDS = 1_000;
  private static final int CHANGED = 8;
  private static final int NAME = 12;

  private final StreamVisitor visitor = new StreamVisitor() {};
  private final StreamReader reader = new StreamReader(0, false, false);
  private ByteBuffer changed;
  private ByteBuffer names;
  private int sequence;

  @Setup
  public void fill() {
    byte[][] changes = new byte[RECORDS][];
    byte[][] named = new byte[RECORDS][];
    for (int i = 0; i < RECORDS; i++) {
      ByteBuffer head = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
      head.putLong(i).putInt(i).putInt(i).putLong(i).putLong(i).putLong(i).putLong(i).putInt(1);
      head.put((byte) flametop.sampler.State.SLEEP.ordinal()).put((byte) 0).putShort((short) 0);
      changes[i] = StreamBytes.record(CHANGED, java.util.Arrays.copyOf(head.array(), 56));
      byte[] text =
          ("some::name::of_a_function_" + i).getBytes(java.nio.charset.StandardCharsets.UTF_8);
      ByteBuffer name = ByteBuffer.allocate(7 + text.length).order(ByteOrder.LITTLE_ENDIAN);
      name.putInt(i).put((byte) 0).putShort((short) text.length).put(text);
      named[i] = StreamBytes.record(NAME, name.array());
    }
    changed = direct(StreamBytes.batch(0, 1, StreamReader.PASS, changes));
    names = direct(StreamBytes.batch(0, 1, StreamReader.PASS, named));
  }

  /** As the bridge fills them. */
  private static ByteBuffer direct(byte[] batch) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(batch.length).order(ByteOrder.LITTLE_ENDIAN);
    return buffer.put(batch).flip();
  }

  private void read(ByteBuffer batch) throws DamagedStreamException {
    batch.putInt(16, sequence++);
    reader.read(batch, visitor);
  }

  @Benchmark
  @OperationsPerInvocation(RECORDS)
  public void changedTask() throws DamagedStreamException {
    read(changed);
  }

  @Benchmark
  @OperationsPerInvocation(RECORDS)
  public void name() throws DamagedStreamException {
    read(names);
  }
}
