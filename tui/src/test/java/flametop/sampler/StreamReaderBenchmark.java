package flametop.sampler;

import flametop.Stage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Setup;

/** Decoding of what comes most: records of changed tasks, and names. */
public class StreamReaderBenchmark extends Stage {
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
      head.put((byte) State.SLEEP.ordinal()).put((byte) 0).putShort((short) 0);
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
