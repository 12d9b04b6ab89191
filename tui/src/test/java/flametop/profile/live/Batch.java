package flametop.profile.live;

import flametop.sampler.Counter;
import flametop.sampler.IdSpace;
import flametop.sampler.State;
import flametop.sampler.StreamBytes;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Makes batches of the stream; times in ms. */
final class Batch {
  private final ByteArrayOutputStream records = new ByteArrayOutputStream();
  private final long time;
  private final int sequence;
  private final int flags;

  Batch(int sequence, double time, boolean pass) {
    this.sequence = sequence;
    this.time = World.ns(time);
    flags = pass ? 1 : 0;
  }

  /** The batch with its checksum, as files have it. */
  byte[] sealed() {
    return StreamBytes.batch(sequence, time, flags, records.toByteArray());
  }

  ByteBuffer bytes() {
    byte[] bytes = sealed();
    return ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.LITTLE_ENDIAN).put(bytes).flip();
  }

  private static ByteBuffer body() {
    return ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static ByteBuffer str(ByteBuffer body, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    return body.putShort((short) bytes.length).put(bytes);
  }

  private Batch record(int kind, ByteBuffer body) {
    byte[] bytes = new byte[body.position()];
    body.flip().get(bytes);
    records.writeBytes(StreamBytes.record(kind, bytes));
    return this;
  }

  Batch process(int process, int tgid, String comm) {
    ByteBuffer b = body().putInt(process).putInt(tgid).putLong(0).putInt(0).putInt(1000);
    return record(2, str(str(b.putLong(0).put((byte) 0), comm), "/bin/" + comm));
  }

  /** A process with one task of the same numbers. */
  Batch program(int id, int tgid, String comm) {
    return process(id, tgid, comm).task(id, id, tgid, comm);
  }

  /** Module 0, with a frame for each function. */
  Batch app(String... functions) {
    module(0, 1, "/bin/app");
    for (int i = 0; i < functions.length; i++) {
      frame(i, 0).name(i, functions[i]);
    }
    return this;
  }

  Batch cgroup(int process, String path) {
    return record(19, str(body().putInt(process), path));
  }

  Batch task(int task, int process, int tid, String comm) {
    ByteBuffer b = body().putInt(task).putInt(process).putInt(tid).putLong(0).put((byte) 0);
    return record(3, str(b, comm));
  }

  Batch module(int module, int kind, String path) {
    return record(5, str(str(body().putInt(module).put((byte) kind), path), ""));
  }

  Batch frame(int frame, int module) {
    return record(6, body().putInt(frame).putInt(module).putLong(0x1000 + frame).put((byte) 0));
  }

  Batch stack(int stack, int... frames) {
    ByteBuffer b = body().putInt(stack).put((byte) 0).put((byte) 0);
    b.putShort((short) frames.length).putShort((short) 0);
    for (int frame : frames) {
      b.putInt(frame);
    }
    return record(7, b);
  }

  Batch changed(double time, int task, int stack, double run, State state, long nvcsw) {
    return record(8, head(time, task, stack, run, state, nvcsw));
  }

  Batch sample(double time, int task, int stack, double run, long nvcsw) {
    return record(9, head(time, task, stack, run, State.RUN, nvcsw));
  }

  Batch source(int source, int unit, String spec) {
    ByteBuffer b = body().putInt(source).put((byte) 0).put((byte) unit).putShort((short) 0);
    return record(22, str(str(b, spec), ""));
  }

  Batch totals(int source, long hits, long weight, long taken, long rate) {
    ByteBuffer b = body().putInt(source).putLong(hits).putLong(weight).putLong(taken).putLong(0);
    return record(23, b.putLong(0).putLong(rate).putLong(-1).putShort((short) 0));
  }

  Batch event(double time, int task, int stack, int source, long weight, long rate) {
    ByteBuffer b = head(time, task, stack, 0, State.RUN, 0);
    return record(24, b.putInt(source).putLong(weight).putLong(rate));
  }

  private static ByteBuffer head(
      double time, int task, int stack, double run, State state, long nvcsw) {
    ByteBuffer b =
        body().putLong(World.ns(time)).putInt(task).putInt(stack).putLong(World.ns(run)).putLong(1);
    b.putLong(nvcsw).putLong(0).putInt(0).put((byte) state.ordinal()).put((byte) 0);
    return b.putShort((short) 1);
  }

  Batch name(int frame, String name) {
    return record(12, str(body().putInt(frame).put((byte) 0), name));
  }

  /** {@code run} in ms. */
  Batch gone(int task, double time, double run) {
    ByteBuffer b = body().putInt(task).putLong(World.ns(time)).putLong(World.ns(run));
    return record(4, b.putLong(0).put((byte) 1));
  }

  /** These ids of everything but modules. */
  Batch forgotten(int... ids) {
    for (IdSpace space : List.of(IdSpace.TASK, IdSpace.PROCESS, IdSpace.STACK, IdSpace.FRAME)) {
      ByteBuffer b = ByteBuffer.allocate(8 + 4 * ids.length).order(ByteOrder.LITTLE_ENDIAN);
      b.put((byte) space.ordinal()).put((byte) 0).putShort((short) 0).putInt(ids.length);
      for (int id : ids) {
        b.putInt(id);
      }
      record(15, b);
    }
    return this;
  }

  Batch usage(int cpu, double idle, double elapsed) {
    ByteBuffer b = body().putInt(cpu).putLong(World.ns(idle)).putLong(World.ns(elapsed));
    for (int i = 0; i < 8; i++) {
      b.putLong(i == 7 ? -1 : 0);
    }
    return record(10, b);
  }

  Batch counters(long due, long late, long dropped) {
    long[] totals = new long[Counter.values().length];
    totals[Counter.PASSES_DUE.ordinal()] = due;
    totals[Counter.PASSES_LATE.ordinal()] = late;
    totals[Counter.CPU_DROPPED.ordinal()] = dropped;
    records.writeBytes(StreamBytes.counters(totals));
    return this;
  }
}
